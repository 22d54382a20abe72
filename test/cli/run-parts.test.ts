// Epochs and training from a Temporal client: the defaults of the command line, and refusals that name the field.

import { describe, expect, test } from 'vitest';
import { runParts } from '../../records/format/run-record.ts';
import { resolveOptions, type RunRequest, type Sources } from '../../run/config.ts';
import { planRun } from '../../run/plan.ts';

const dataset = { path: '/rows.jsonl', sha256: 'f'.repeat(64), accepted: 1, refused: 0 };
const partsOf = (sources: Sources) => runParts(planRun({ ...resolveOptions(sources), name: 'r', dataset, now: 0 }));
const ofRequest = (request: RunRequest) => partsOf({ request });

describe('the groups of a collection that a client starts', () => {
  test('have the defaults of the command line', () => {
    expect(ofRequest({ samples: 8 })).toEqual({});
    expect(ofRequest({ samples: 8, epochs: 1 })).toEqual({});
    const defaults = { batchGroups: 32, maxStaleness: 1, minMembers: null, successRate: null, dropZeroVariance: false };
    expect(ofRequest({ samples: 8, epochs: 3, train: {} })).toEqual({ epochs: 3, train: defaults });
    const given = { batchGroups: 4, maxStaleness: 0, minMembers: 8, successRate: [0.1, 0.9], dropZeroVariance: true };
    expect(ofRequest({ samples: 8, train: given })).toEqual({ train: given });
  });

  test.each([
    [{ epochs: 0 }, /epochs/],
    [{ epochs: 'two' }, /epochs/],
    [{ train: [] }, /`train` is \[\]/],
    [{ train: 'yes' }, /`train` is "yes"/],
    [{ train: { batchGroup: 1 } }, /train\.batchGroup is no setting/],
    [{ train: { batchGroups: 0 } }, /train\.batchGroups/],
    [{ train: { maxStaleness: -1 } }, /train\.maxStaleness/],
    [{ train: { successRate: [1, 0] } }, /train\.successRate/],
    [{ train: { minMembers: 9 } }, /9/],
  ])('are refused by the name of the field: %j', (given, problem) => {
    expect(() => ofRequest({ samples: 8, ...given })).toThrow(problem);
  });

  test('are refused with more rollouts in flight than one workflow may have', () => {
    const of = (input: object) => partsOf({ input: { train: true, maxConcurrent: 1001, ...input } });
    expect(() => of({})).toThrow(/--max-concurrent 1001: a run with --train has at most 1000/);
    expect(of({ maxConcurrent: 1000 })).toHaveProperty('train');
    expect(of({ train: false })).toEqual({});
  });
});

// Epochs and training from a Temporal client: the defaults of the command line, and refusals that name the field.

import { describe, expect, test } from 'vitest';
import { runPartsOf, parseRunParts } from '../../run/run-parts.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';

describe('the groups of a collection that a client starts', () => {
  test('have the defaults of the command line', () => {
    expect(parseRunParts({ samples: 8 })).toEqual({});
    expect(parseRunParts({ samples: 8, epochs: 1 })).toEqual({});
    const defaults = { batchGroups: 32, maxStaleness: 1, minMembers: null, successRate: null, dropZeroVariance: false };
    expect(parseRunParts({ samples: 8, epochs: 3, train: {} })).toEqual({ epochs: 3, train: defaults });
    const given = { batchGroups: 4, maxStaleness: 0, minMembers: 8, successRate: [0.1, 0.9], dropZeroVariance: true };
    expect(parseRunParts({ samples: 8, train: given })).toEqual({ train: given });
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
    expect(() => parseRunParts({ samples: 8, ...given })).toThrow(problem);
  });

  test('are refused with more rollouts in flight than one workflow may have', () => {
    const options = { ...DEFAULT_OPTIONS, train: true, maxConcurrent: 1001 };
    expect(() => runPartsOf(options)).toThrow(/--max-concurrent 1001: a run with --train has at most 1000/);
    expect(runPartsOf({ ...options, maxConcurrent: 1000 })).toHaveProperty('train');
    expect(runPartsOf({ ...options, train: false })).toEqual({});
  });
});

// The samples of an agent's tree of calls, by random trees: each sampled token is trained once, in the first sample of it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replyForm } from '../../domain/agent/reply-form.ts';
import { branchesOf, labelsOfBranch, leavesOf } from '../../domain/samples/branches.ts';
import { neutralRow } from '../../domain/samples/neutral-row.ts';
import type { EndRecord, Trajectory } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { arealTurns, sequenceSample } from '../../formats/exports/areal.ts';
import { EXPORTERS } from '../../formats/exports/index.ts';
import { turnRows } from '../../formats/exports/turn-row.ts';
import { aQuery, someSettings, turnRecord } from '../records/play.ts';

const SHAPES = fc.array(
  fc.record({ parent: fc.nat(), context: fc.integer({ min: 1, max: 4 }), output: fc.integer({ min: 1, max: 4 }) }),
  { minLength: 1, maxLength: 12 },
);
interface Shape {
  readonly parent: number;
  readonly context: number;
  readonly output: number;
}

const PROGRAM = { spec: ['x'], fingerprint: 'f'.repeat(64), timeoutSeconds: 9, maxCalls: 9 };

/** Every id is another number, so that a token is known by it. */
function treeOf(shapes: readonly Shape[], abandoned: readonly number[] = []): Trajectory {
  let next = 0;
  const ids = (count: number) => Array.from({ length: count }, () => next++);
  const records: TurnRecord[] = [];
  for (const [i, { parent: any, context, output }] of shapes.entries()) {
    const parent = any % (i + 1) || null;
    const before = parent === null ? undefined : records[parent - 1]!;
    const contextIds = ids(context);
    const outputIds = ids(output);
    records.push({
      ...turnRecord(i + 1, 'text'),
      contextIds,
      outputIds,
      logprobs: outputIds.map((id) => -id - 1),
      versions: [{ version: 0, start: 0, end: output }],
      contextLength: (before ? before.contextLength + before.outputIds.length : 0) + context,
      asked: {
        ...{ call: `call ${i + 1}`, hash: 'a'.repeat(64), occurrence: 0, dialect: '/chat/completions', parent },
        ...{ branch: null, differsAt: null, shared: parent === null ? 0 : 1, limits: {} },
        messages: [{ role: 'user', text: `message ${i + 1}` }],
      },
    });
  }
  const count = records.length;
  const end = {
    ...{ outcome: 'complete', stopReason: 'done', failure: null, turns: records.map(({ turn }) => `hash ${turn}`) },
    ...{ turnRewards: [...Array<number>(count - 1).fill(0), 0.5], returns: Array<number>(count).fill(0.5) },
    ...{ success: [...Array<null>(count - 1).fill(null), 1], called: records.slice(1).map((_, i) => i + 1) },
    ...{ finishedAt: 1, ...(abandoned.length > 0 && { abandoned }) },
  } as unknown as EndRecord;
  const verdict = (turn: number) => ({ turn, reason: 'agent', of: `hash ${turn}`, tookMs: 0 });
  return {
    rollout: {
      ...{ run: 'r', query: aQuery('q'), index: 0, sample: 0, attempt: 1, settings: someSettings(), birthTime: 1 },
    },
    turns: records.map((record) => ({
      record,
      verdict: { ...verdict(record.turn), verdict: record.turn === count ? ('right' as const) : ('called' as const) },
    })),
    end,
  };
}

describe('the samples of a tree', () => {
  test('train each sampled token once, where it first stands, with its logprob, and no other token', () => {
    fc.assert(
      fc.property(SHAPES, (shapes) => {
        const tree = treeOf(shapes);
        const rows = branchesOf(tree).map((branch) => neutralRow(branch));
        const trained = rows.flatMap((row) => row.response_ids.filter((_, i) => row.response_mask[i] === 1));
        const sampled = tree.turns.flatMap(({ record }) => record.outputIds);
        expect(trained.toSorted((a, b) => a - b)).toEqual(sampled.toSorted((a, b) => a - b));
        for (const [index, row] of rows.entries()) {
          expect([row.branch, row.branches, row.reward]).toEqual([index, rows.length, 0.5]);
          expect(row.turn_returns).toEqual(
            row.turn_ids.filter((id, i, all) => id >= 0 && id !== all[i - 1]).map(() => 0.5),
          );
          const expected = row.response_ids.map((id, i) => (row.response_mask[i] === 1 ? -id - 1 : 0));
          expect(row.logprobs).toEqual(expected);
        }
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  test('hold each the whole path to a leaf, and name the call at which they part', () => {
    fc.assert(
      fc.property(SHAPES, (shapes) => {
        const tree = treeOf(shapes);
        const records = tree.turns.map(({ record }) => record);
        const branches = branchesOf(tree);
        expect(branches).toHaveLength(leavesOf(records).length);
        for (const branch of branches) {
          const row = neutralRow(branch);
          const leaf = records.find(({ asked }) => asked!.call === row.turn_calls!.at(-1))!;
          const path: number[] = [];
          for (
            let at: TurnRecord | undefined = leaf;
            at;
            at = at.asked!.parent === null ? undefined : records[at.asked!.parent - 1]
          )
            path.unshift(...at.contextIds, ...at.outputIds);
          expect([...row.prompt_ids, ...row.response_ids]).toEqual(path);
          const first = records.find(({ asked }) => asked!.call === row.turn_calls![0])!;
          const parent = first.asked!.parent;
          expect(row.parent_call).toBe(parent === null ? null : `call ${parent}`);
        }
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  test('are none of abandoned leaves, but hold what the others go on from', () => {
    const tree = treeOf(
      [1, 1, 2].map((_, i) => ({ parent: [0, 1, 1][i]!, context: 1, output: 1 })),
      [1, 2],
    );
    expect(branchesOf(tree).map(({ branch }) => branch!.calls)).toEqual([['call 1', 'call 3']]);
  });

  test('train nothing of a reply that its server held to a form, which is context for what goes on from it', () => {
    const held = [false, true, false, true];
    const tree = treeOf([0, 1, 2, 0].map((parent) => ({ parent, context: 1, output: 2 })));
    const form = replyForm('json', {});
    const turns = tree.turns.map(({ record, verdict }, i) => {
      const asked = { ...record.asked!, limits: held[i] ? { form } : {} };
      return { record: { ...record, asked }, verdict };
    });
    const branches = branchesOf({ ...tree, turns });
    const rows = branches.map((branch) => neutralRow(branch));
    // A leaf of which nothing is trained makes no sample.
    expect(rows.map(({ response_mask }) => response_mask)).toEqual([[1, 1, 0, 0, 0, 0, 1, 1]]);
    for (const exporter of EXPORTERS) {
      const made = exporter.open?.() ?? { add: (branch: Trajectory) => exporter.lines(branch), end: () => [] };
      expect(() => [...branches.map((branch) => made.add(branch, {})), made.end()], exporter.name).not.toThrow();
    }
  });

  test('have each the advantage of the rollout on all of their turns', () => {
    const tree = treeOf([
      { parent: 0, context: 1, output: 1 },
      { parent: 1, context: 1, output: 1 },
      { parent: 1, context: 1, output: 1 },
    ]);
    const labels = branchesOf(tree).map((branch) => labelsOfBranch({ turn_advantages: [0.25] }, branch));
    expect(labels.map(({ turn_advantages }) => turn_advantages)).toEqual([[0.25, 0.25], [0.25]]);
  });

  test('leave calls out that are not trained: a leaf makes no sample, and one on the way is masked in every form', () => {
    const tree = treeOf([0, 1, 2, 0, 1].map((parent) => ({ parent, context: 1, output: 2 })));
    const asked = ['title', 'main', 'main', 'title', 'side'];
    const labelled = {
      ...tree,
      rollout: {
        ...tree.rollout,
        settings: { ...tree.rollout.settings, program: { ...PROGRAM, trainCalls: 'tag=main' } },
      },
      turns: tree.turns.map((turn, i) => ({
        ...turn,
        record: { ...turn.record, asked: { ...turn.record.asked!, tag: asked[i]!, model: 'm' } },
      })),
    };
    const samples = branchesOf(labelled);
    const [row, ...others] = samples.map((branch) => neutralRow(branch));
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      ...{ turn_calls: ['call 1', 'call 2', 'call 3'], turn_tags: asked.slice(0, 3), turn_models: ['m', 'm', 'm'] },
      ...{ response_mask: [0, 0, 0, 1, 1, 0, 1, 1], weight: 1, branches: 1 },
    });
    expect(row!.token_rewards!.at(-1)).toBe(0.5);
    const { prompt_mask: mask } = sequenceSample(samples[0]!).data;
    // A context of one token and an answer of two: a sequence for each call, of which the first is context alone.
    expect(mask.slice(0, 3)).toEqual([true, true, true]);
    expect(mask.filter((isPrompt) => !isPrompt)).toHaveLength(4);
    const ids = arealTurns.lines(samples[0]!).map((line) => (JSON.parse(line) as { ids: string[] }).ids[0]);
    expect(ids).toEqual(['q@0-t2', 'q@0-t3']);
    const none = { ...PROGRAM, trainCalls: 'model=other' };
    const settings = { ...tree.rollout.settings, program: none };
    expect(branchesOf({ ...labelled, rollout: { ...tree.rollout, settings } })).toEqual([]);
  });

  test('have the rewards of their calls, a return each, and weigh as much as one together', () => {
    const tree = treeOf([0, 1, 1].map((parent) => ({ parent, context: 1, output: 2 })));
    const end = { ...tree.end!, turnRewards: [0.25, 1, 0.5], returns: [1, 1.5, 0.5] };
    const rows = branchesOf({ ...tree, end }).map((branch) => neutralRow(branch));
    expect(rows.map(({ turn_rewards }) => turn_rewards)).toEqual([[0.25, 1.5], [0.5]]);
    expect(rows.map(({ turn_returns }) => turn_returns)).toEqual([[1, 1.5], [0.5]]);
    expect(rows.map(({ weight }) => weight)).toEqual([0.5, 0.5]);
    const labels = branchesOf(tree).map((branch) => labelsOfBranch({ turn_advantages: [1, 2, 3] }, branch));
    expect(labels.map(({ turn_advantages }) => turn_advantages)).toEqual([[1, 2], [3]]);
  });

  test('of an undecided rollout are rows of its turns, without a reward of the last', () => {
    const tree = treeOf([0, 1].map((parent) => ({ parent, context: 1, output: 2 })));
    const end = {
      ...tree.end!,
      outcome: 'undecided' as const,
      turnRewards: [0.25],
      returns: [],
      success: [null, null],
    };
    const turns = tree.turns.map((turn, i) =>
      i === 0 ? turn : { ...turn, verdict: { ...turn.verdict!, verdict: 'undecided' as const } },
    );
    const [branch] = branchesOf({ ...tree, turns, end });
    expect([...turnRows(branch!)].map(({ reward }) => reward)).toEqual([0.25, null]);
  });

  test.each(EXPORTERS.map(({ name }) => name))('are lines of %s', (name) => {
    const tree = treeOf([0, 1, 1, 2].map((parent) => ({ parent, context: 2, output: 2 })));
    const exporter = EXPORTERS.find((one) => one.name === name)!;
    const branches = branchesOf(tree);
    const made = exporter.open?.() ?? { add: (branch: Trajectory) => exporter.lines(branch), end: () => [] };
    expect(() => [...branches.map((branch) => made.add(branch, {})), made.end()]).not.toThrow();
  });

  test('are the trajectory itself where no program plays it', () => {
    const { rollout, turns, end } = treeOf([{ parent: 0, context: 1, output: 1 }]);
    const { asked: _, ...record } = turns[0]!.record;
    const plain = { rollout, turns: [{ ...turns[0]!, record }], end };
    expect(branchesOf(plain)).toEqual([plain]);
  });
});

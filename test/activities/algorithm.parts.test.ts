// The seed's formulas, end to end through activities, store and export, against a straight-line
// implementation written from the algorithm's text alone: 25 random trajectories (100 by EVERTURN_TESTS=all) with 1 to 8
// turns, scaling, bias, discount, answers cut by length, answers of no token, chunks, aborts and moving weight versions.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { MockActivityEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { rolloutResult, scoredTurns, stopReason } from '../../domain/rollout/ending.ts';
import { unfitRewards } from '../../domain/rollout/reward.ts';
import { type OpenedRollout, turnFacts } from '../../domain/rollout/rollout-facts.ts';
import type { TurnFacts } from '../../domain/rollout/turn-facts.ts';
import { areal } from '../../formats/exports/areal.ts';
import { logFiles } from '../../formats/exports/logs.ts';
import type { TokenBackend } from '../../inference/backend.ts';
import { onlyJudge } from '../support/only-judge.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { byteTokenizer } from '../support/scripted-model.ts';

const EOS = 256;
const RUNS = process.env['EVERTURN_TESTS'] === 'all' ? 100 : 25;
const BUDGET = 200;

interface PlannedTurn {
  readonly text: string;
  readonly right: boolean;
  /** No end token: the answer is cut at its budget. */
  readonly cut: boolean;
  /** It ends before its first token, the end token included. */
  readonly empty: boolean;
  /** Lengths at which the server says `abort`, and how far the version moves there. */
  readonly breaks: readonly { readonly at: number; readonly move: number }[];
}

const plannedTurn = fc.record({
  text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((s) => s.replaceAll(/[<>\\]/g, '.')),
  right: fc.boolean(),
  cut: fc.boolean(),
  empty: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  breaks: fc.array(fc.record({ at: fc.integer({ min: 1, max: 40 }), move: fc.integer({ min: 0, max: 3 }) }), {
    maxLength: 3,
  }),
});
const anyPlan = fc.record({
  turns: fc.array(plannedTurn, { minLength: 1, maxLength: 8 }),
  scaling: fc.double({ min: -4, max: 4, noNaN: true }),
  bias: fc.double({ min: -2, max: 2, noNaN: true }),
  discount: fc.double({ min: 0, max: 1, noNaN: true }),
  newTokensPerChunk: fc.option(fc.integer({ min: 15, max: 90 })),
  firstVersion: fc.integer({ min: 0, max: 5 }),
  logs: fc.constantFrom('files' as const, 'none' as const),
});
/** Rewards that no trainer can hold are refused as settings: test/domain/rewards-fit.test.ts. */
const plan = anyPlan.filter(({ scaling, bias, discount, turns }) => {
  const settings = { rewardScaling: scaling, rewardBias: bias, turnDiscount: discount };
  return unfitRewards(settings, turns.length) === null;
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** What turn t's answer is, token by token: the one truth that both sides are made from. */
function tokensOf(turn: PlannedTurn, t: number): { ids: number[]; logprobs: number[] } {
  if (turn.empty) return { ids: [], logprobs: [] };
  const box = turn.right ? ' \\boxed{4}' : ' \\boxed{5}';
  const bytes = [...Buffer.from(turn.text + box)];
  // An answer that is cut is as long as the budget.
  const ids = turn.cut ? [...Buffer.from('.'.repeat(BUDGET - bytes.length)), ...bytes] : [...bytes, EOS];
  return { ids, logprobs: ids.map((id, i) => -Math.abs(Math.sin(id * 31 + i * 7 + t)) * 3) };
}

const isCut = ({ cut, empty }: PlannedTurn): boolean => cut && !empty;
const isRight = ({ right, empty }: PlannedTurn): boolean => right && !empty;

/** The version that makes the token at `place` of turn t, when all versions move at their breaks. */
function versionAt(p: Plan, t: number, place: number): number {
  const moves = p.turns.flatMap((turn, u) =>
    u < t ? turn.breaks : u === t ? turn.breaks.filter((b) => b.at <= place) : [],
  );
  return p.firstVersion + moves.reduce((sum, b) => sum + b.move, 0);
}

function backendOf(p: Plan): TokenBackend {
  return {
    facts: {
      kind: 'tokens',
      name: 'planned',
      fingerprint: null,
      vocabSize: 259,
      contextLength: 100_000,
      stopTokenIds: [EOS],
    },
    tokenizer: byteTokenizer,
    async generate({ requestId, contextIds, maxNewTokens }) {
      const t = Number(requestId.split('/').at(-1)) - 1;
      const { ids, logprobs } = tokensOf(p.turns[t]!, t);
      const context = await byteTokenizer.decode(contextIds, { skipSpecialTokens: false });
      const said =
        contextIds.length -
        (await byteTokenizer.encode(context.slice(0, context.lastIndexOf('<start>assistant\n') + 17))).length;
      const stops = p.turns[t]!.breaks.map((b) => b.at).filter((at) => at > said && at < ids.length);
      const aborted = Math.min(...stops, Infinity);
      const end = Math.min(ids.length, said + maxNewTokens, aborted);
      const outputIds = ids.slice(said, end);
      const spans = outputIds.map((_, i) => ({ version: versionAt(p, t, said + i), start: i, end: i + 1 }));
      if (ids.length === 0) spans.push({ version: versionAt(p, t, 0), start: 0, end: 0 });
      const finish = end === ids.length && !isCut(p.turns[t]!) ? 'stop' : end === aborted ? 'abort' : 'length';
      return { outputIds, logprobs: logprobs.slice(said, end), finish, versions: spans, server: 'http://planned' };
    },
    close: async () => {},
  };
}

/** seed.md, line by line. */
function expected(p: Plan, question: string, birthTime: number): object {
  const chat = (content: string) => `<start>user\n${content}<end>\n<start>assistant\n`;
  const encode = (text: string) =>
    text
      .split(/(<start>|<end>)/)
      .flatMap((s) => (s === '<start>' ? [257] : s === '<end>' ? [256] : [...Buffer.from(s)]));
  const P = encode(chat(question));
  let C = P;
  const S: number[][] = [];
  const masks: boolean[] = [];
  const logprobs: number[] = [];
  const r: number[] = [];
  for (const [t, turn] of p.turns.entries()) {
    const O = tokensOf(turn, t);
    S.push([...C, ...O.ids]);
    masks.push(...C.map(() => true), ...O.ids.map(() => false));
    logprobs.push(...C.slice(1).map(() => 0), ...O.logprobs.map(Math.fround));
    r.push(((Number(isRight(turn)) - 0.5) * 2 - p.bias) * p.scaling);
    const F = isRight(turn)
      ? 'Congratulations! You are correct!'
      : "Unfortunately your answer is wrong. Let's try again.";
    C = [...S.at(-1)!, ...encode(`\n${chat(F)}`)];
  }
  const G = r.map((_, t) => r.slice(t).reduceRight((g, x) => x + p.discount * g));
  const ones = [r.map(() => 1)];
  return {
    ids: ['q'],
    seqlens: {
      packed_input_ids: [S.map((s) => s.length)],
      prompt_mask: [S.map((s) => s.length)],
      packed_logprobs: [S.map((s) => s.length - 1)],
      packed_prompts: [[P.length]],
      seq_no_eos_mask: ones,
      rewards: ones,
      version_start: ones,
      version_end: ones,
      birth_time: [[1]],
      task_ids: [[1]],
    },
    data: {
      packed_input_ids: S.flat(),
      prompt_mask: masks,
      packed_logprobs: logprobs,
      packed_prompts: P,
      seq_no_eos_mask: p.turns.map(isCut),
      rewards: G.map(Math.fround),
      version_start: p.turns.map((_, t) => versionAt(p, t, 0)),
      version_end: p.turns.map((turn, t) => versionAt(p, t, Math.max(0, tokensOf(turn, t).ids.length - 1))),
      birth_time: [birthTime],
      task_ids: [0],
    },
  };
}

let out: string;
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'everturn-algorithm-'));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

describe('the activities of a rollout', () => {
  test(`${RUNS} random trajectories are exported as the algorithm says`, { timeout: 300_000 }, async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(plan, async (p) => {
        const run = `r${n++}`;
        const question = 'What is 2 + 2?';
        const trajectory = await play(p, run, question);
        const sample = JSON.parse(areal.lines(trajectory)[0]!) as object;
        // JSON knows no −0.
        const straight = JSON.parse(JSON.stringify(expected(p, question, trajectory.rollout.birthTime))) as object;
        // vitest compares long lists slowly, and shows the difference.
        if (!isDeepStrictEqual(only(sample, straight), straight)) expect(sample).toMatchObject(straight);
        // The logs are in the records, to the byte, whether a run writes them or not.
        const made = logFiles(trajectory);
        expect(made.length).toBe(2 * new Set(trajectory.turns.map(({ record }) => record.versionStart)).size);
        for (const { path, bytes } of made) {
          const file = join(out, run, path);
          expect(existsSync(file)).toBe(p.logs === 'files');
          if (p.logs === 'files') expect(readFileSync(file).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

/** The parts of `value` that `like` has. */
function only(value: unknown, like: unknown): unknown {
  if (!isObject(value) || !isObject(like)) return value;
  return Object.fromEntries(Object.keys(like).map((key) => [key, only(value[key], like[key])]));
}
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The rollout's own steps, in its own order, without a server. */
async function play(p: Plan, run: string, question: string) {
  const fail = () => Promise.reject(new Error('not part of this'));
  const activities = createActivities({
    version: 'test',
    openStore: openFileStore,
    backend: async () => backendOf(p),
    environments: onlyJudge({
      judge: async (_, answer) => ({ verdict: answer.endsWith('\\boxed{4}') ? 'right' : 'wrong', reason: 'scripted' }),
      close: async () => {},
    }),
    permit: () => undefined,
    parseRow: () => ({
      queryId: 'q',
      prompt: { kind: 'messages', messages: [{ role: 'user', content: question }] },
      task: 'math',
      solutions: ['4'],
    }),
    parseSettings: (name, given) => completeSettings(name, given),
    createRun: fail,
    makeEvaluation: fail,
    closedRollouts: fail,
    isWaiting: async () => false,
    isStopping: async () => false,
    tellCalls: async () => undefined,
    slots: 100,
    cancelRollout: async () => {},
    weights: {} as never,
    now: Date.now,
  });
  const inActivity = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A) =>
    new MockActivityEnvironment().run(activity as (...args: unknown[]) => Promise<R>, ...args) as Promise<R>;
  const settings = {
    numTurns: p.turns.length,
    rewardScaling: p.scaling,
    rewardBias: p.bias,
    turnDiscount: p.discount,
    newTokensPerChunk: p.newTokensPerChunk,
    maxNewTokens: BUDGET,
    ...(p.logs === 'none' && { logs: p.logs }),
  };
  const opened: OpenedRollout = await inActivity(activities.open, { run, out, row: {}, settings });
  const { rollout, limits, reward } = opened;
  const turns: TurnFacts[] = [];
  for (let turn = 1; ; turn++) {
    const generated = await inActivity(activities.generate, { rollout, turn });
    if (generated.noRoom) throw new Error('no room');
    const judged = await inActivity(activities.evaluate, { rollout, turn });
    await inActivity(activities.log, { rollout, turn });
    turns.push(turnFacts(generated, judged));
    const stop = stopReason(turn, judged.verdict, limits);
    if (!stop) continue;
    const result = rolloutResult(rollout, turns, stop, null, scoredTurns(turns, stop, reward));
    await inActivity(activities.finish, { result, message: null });
    return (await readTrajectory(openFileStore(out, run), rollout))!;
  }
}

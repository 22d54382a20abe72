// The other half of forgeries.ts: ends, times, what was to be played, copies, parts of answers, and the result.

import type { LooseRollout, LooseRun } from './forger.ts';
import { type Forgery, rollout, setOutput, turn, turnForgeries } from './forgeries.ts';

const runForgeries: Readonly<Record<string, Forgery>> = {
  // Ends.
  'a rollout cut after a right answer, as if nothing fitted': {
    change: (whole) => {
      const one = whole.rollouts.find(({ turns }) => turns.length === 3)!;
      one.turns.pop();
      one.verdicts.pop();
      one.end.stopReason = 'context-length';
    },
    problem: /says that no further turn fits; turn 2 left room/,
  },
  'a rollout cut after a right answer, as if the run stopped there': {
    change: (whole) => {
      const one = whole.rollouts.find(({ verdicts }) => verdicts[1]!.verdict === 'right')!;
      one.turns.pop();
      one.verdicts.pop();
      one.end.stopReason = 'success';
    },
    problem: /says success, and no rule ends it at turn 2/,
  },
  'all turns played, said to be out of room': {
    change: rollout((one) => (one.end.stopReason = 'context-length')),
    problem: /says context-length; turn 3 ends it by max-turns/,
  },
  'a turn played after an undecided one': {
    change: rollout((one) => (one.verdicts[0] = { ...one.verdicts[0]!, verdict: 'undecided' })),
    problem: /goes on after turn 1, which ends a rollout by undecided/,
  },
  'a failure of a turn that is not the next': {
    change: rollout((one) => {
      one.end.outcome = one.end.stopReason = 'failed';
      one.end.failure = { boundary: 'model', reason: 'x', message: 'x', turn: 9 };
    }),
    problem: /says failure .*"turn":9.*; the records say .*"turn":4/,
  },
  // Times.
  'a turn finished before it was begun': {
    change: turn((one) => (one.finishedAt = one.startedAt - 1)),
    problem: /ends at \d+, before its start/,
  },
  'a turn begun before the one before was finished': {
    change: turn((one, of) => {
      one.startedAt = of.turns[0]!.startedAt - 60_000;
      one.finishedAt = one.startedAt + 1;
    }),
    problem: /was begun at \d+, \d+ ms before/,
  },
  'a rollout begun before its run': {
    change: rollout((one, { run }) => (one.rollout.birthTime = run.createdAt - 60_000)),
    problem: /began at \d+, \d+ ms before its run was made/,
  },
  'an end before its last turn': {
    change: rollout((one) => (one.end.finishedAt = one.turns[0]!.startedAt - 60_000)),
    problem: /ended at \d+, \d+ ms before what it ends/,
  },
  // What was to be played.
  'a sample more than the run has': {
    change: (whole) => {
      const copy = structuredClone(whole.rollouts[0]!);
      copy.rollout.sample = 7;
      whole.rollouts.push(copy);
    },
    problem: /is sample 7 of a run with 2 per query/,
  },
  'a rollout of a query that is not in the set': {
    change: (whole) => {
      const copy = structuredClone(whole.rollouts[0]!);
      copy.rollout.query = { ...copy.rollout.query, queryId: 'mine' };
      copy.rollout.index = null;
      whole.rollouts.push(copy);
    },
    problem: /was started by itself, in the run of a data set/,
  },
  'an attempt without the one before': {
    change: rollout((one) => (one.rollout.attempt = 3)),
    problem: /is attempt 3, and there is no attempt 2/,
  },
  'a query that is there twice': {
    change: (whole) => {
      whole.queries.push(whole.queries[0]!);
      whole.run.dataset = { ...whole.run.dataset!, accepted: 6 };
    },
    problem: /holds the query "arith-\d+" twice/,
  },
  'a query fewer than were accepted': {
    change: (whole) => {
      whole.queries.pop();
      whole.rollouts = whole.rollouts.filter(({ rollout: { index } }) => index !== 4);
      whole.result!['total'] = 8;
    },
    problem: /holds 4 queries; run.json says that 5 were accepted/,
  },
  'solutions that are no texts': {
    change: rollout((one) => (one.rollout.query = { ...one.rollout.query, solutions: [42] as unknown as string[] })),
    problem: /has no right solutions: .* \(in query\)/,
  },
  // Copies.
  'an answer copied behind another question, with its times': {
    change: (whole) => copyTurns(whole, [0], true),
    problem: /has the ids and logprobs of .*, to the bit, behind another context/,
  },
  'two answers copied behind another question': {
    change: (whole) => copyTurns(whole, [0, 1], false),
    problem: /has the ids and logprobs of .*, to the bit, behind another context/,
  },
  'an improbable answer drawn twice': {
    change: (whole) => {
      const [from, to] = whole.rollouts as [LooseRollout, LooseRollout];
      const values = from.turns[0]!.outputIds.map((_, i) => -3 - i / 100);
      from.turns[0]!.logprobs = values;
      setOutput(to.turns[0]!, from.turns[0]!.outputIds, values);
      to.turns[0]!.outputText = from.turns[0]!.outputText;
      to.turns[0]!.answer = from.turns[0]!.answer;
    },
    problem: /an answer that is not drawn twice/,
  },
  // Parts of answers.
  'a part of an answer that its turn does not begin with': {
    change: rollout((one) => one.chunks.push(partOf(one, { outputIds: [9, 9], logprobs: [-1, -1] }))),
    problem: /is not what turn-001.json begins with/,
  },
  'a part of an answer with a positive logprob': {
    change: rollout((one) => one.chunks.push(partOf(one, { logprobs: [1, -1], attempt: 9 }))),
    problem: /has the logprob 1 at output token 1/,
  },
  'a part of a turn that is far ahead': {
    change: rollout((one) => one.chunks.push({ ...partOf(one, {}), turn: 9 })),
    problem: /is part of turn 9, and turn 3 is the last/,
  },
  // The result.
  'a run without its result': {
    change: (whole) => (whole.result = null),
    problem: /is missing, though all 10 rollouts have ended/,
  },
  'the result of another run': {
    change: (whole) => (whole.result!['run'] = 'other'),
    problem: /says run "other"; the records say "always"/,
  },
  'a result that counts other turns': {
    change: (whole) => (whole.result!['numTurns'] = 4),
    problem: /says numTurns 4; the records say 3/,
  },
};

export const forgeries: Readonly<Record<string, Forgery>> = { ...turnForgeries, ...runForgeries };

/** From the first rollout to that of another query, with logprobs that tell. */
function copyTurns(whole: LooseRun, places: readonly number[], withTimes: boolean): void {
  const [from, to] = [whole.rollouts[0]!, whole.rollouts[2]!];
  for (const place of places) {
    const [source, target] = [from.turns[place]!, to.turns[place]!];
    // Both must be long enough to tell.
    const outputIds = [...source.outputIds.slice(0, -1), ...source.outputIds];
    const values = outputIds.map((_, i) => -0.5 - i / 100);
    for (const each of [source, target]) setOutput(each, outputIds, values);
    const { outputText, answer, startedAt, finishedAt } = source;
    Object.assign(target, { outputText, answer }, withTimes ? { startedAt, finishedAt } : {});
  }
}

function partOf(one: LooseRollout, change: object): LooseRollout['chunks'][number] {
  const { outputIds, logprobs, startedAt, server, attempt, versionStart: version } = one.turns[0]!;
  const [ids, values] = [outputIds.slice(0, 2), logprobs.slice(0, 2)];
  const part = {
    turn: 1,
    chunk: 1,
    outputIds: ids,
    logprobs: values,
    finish: 'length',
    server,
    attempt,
    startedAt,
  } as const;
  return { ...part, versions: [{ version, start: 0, end: 2 }], finishedAt: startedAt + 1, ...change };
}

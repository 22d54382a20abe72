// Forgeries of calls of tools that agree with themselves (forger.ts makes every hash follow), each with the file and the
// sentence that check must give. The run is test/fixtures/run-tools.json: `calls`, `order`, `bad` and `long`, two answers each.

import type { CallRecord } from '../../../domain/tools/tool.ts';
import type { LooseRollout, LooseRun } from './forger.ts';

export interface CallForgery {
  readonly change: (whole: LooseRun) => void;
  /** In the rollout's folder. */
  readonly file: string;
  readonly problem: RegExp;
}

export const of = (whole: LooseRun, query: string): LooseRollout =>
  whole.rollouts.find(({ rollout }) => rollout.query.queryId === query)!;
const callOf = (one: LooseRollout, turn: number, call = 1) =>
  one.calls.find((each) => each.turn === turn && each.call === call)!;
const forge =
  (query: string, change: (one: LooseRollout, whole: LooseRun) => void) =>
  (whole: LooseRun): void =>
    change(of(whole, query), whole);
const record = (
  query: string,
  turn: number,
  change: Partial<CallRecord> | ((whole: LooseRun) => Partial<CallRecord>),
) =>
  forge(query, (one, whole) => Object.assign(callOf(one, turn), typeof change === 'function' ? change(whole) : change));
const removed = (one: LooseRollout, kind: 'calls' | 'intents', turn: number, call = 1): void => {
  const at = one[kind].findIndex((each) => each.turn === turn && each.call === call);
  one[kind].splice(at, 1);
};
/** The calls of a reply, and its verdict with them. */
const reply = (query: string, turn: number, change: <T>(list: readonly T[]) => T[]) =>
  forge(query, (one) => {
    const [said, verdict] = [one.turns[turn - 1]!, one.verdicts[turn - 1]!];
    said.calls = change(said.calls!);
    verdict.calls = change(verdict.calls!);
    verdict.messages = change(verdict.messages!);
  });
const inReply = (query: string, change: (call: Record<string, unknown>) => void) =>
  forge(query, (one) => {
    const [call, ...more] = structuredClone(one.turns[0]!.calls!);
    change(call as unknown as Record<string, unknown>);
    one.turns[0]!.calls = [call!, ...more];
    const { name, arguments: given } = call!;
    const [result, ...others] = one.verdicts[0]!.calls!;
    one.verdicts[0]!.calls = [{ ...result!, name, arguments: given }, ...others];
  });
const effectOf = (effect: 'pure' | 'once') =>
  forge('order', (one, whole) => {
    const changed = (settings: LooseRun['run']['settings']) => ({
      ...settings,
      tools: { ...settings.tools!, list: settings.tools!.list.map((tool) => ({ ...tool, effect })) },
    });
    one.rollout.settings = changed(one.rollout.settings);
    if (effect === 'pure') whole.run.settings = changed(whole.run.settings);
  });

const FIRST = 'turn-001.json';
const VERDICT = 'verdict-001.json';
const CALL = 'call-001.001.json';

export const callForgeries: Readonly<Record<string, CallForgery>> = {
  // What a tool gave.
  'a result edited': {
    change: record('calls', 1, { output: '9', bytes: 1 }),
    file: VERDICT,
    problem: /says calls\[0\]\.output "3"; the records say "9"/,
  },
  'a result edited, of the same count of bytes as the record says': {
    change: record('calls', 1, { output: '9999' }),
    file: CALL,
    problem: /says bytes 1; the records say 4/,
  },
  'a result edited where the model is told': {
    change: forge('calls', (one) => {
      const [first, ...more] = one.verdicts[0]!.messages!;
      one.verdicts[0]!.messages = [{ ...first!, content: '9 and 3' }, ...more];
    }),
    file: VERDICT,
    problem: /says messages .*9 and 3.*; the records say/,
  },
  'a result edited in the record and the verdict': {
    change: forge('calls', (one) => {
      Object.assign(callOf(one, 1), { output: '9', bytes: 1 });
      const [first, ...more] = one.verdicts[0]!.calls!;
      one.verdicts[0]!.calls = [{ ...first!, output: '9' }, ...more];
    }),
    file: VERDICT,
    problem: /says messages .*"3".*; the records say .*"9"/,
  },
  'a result edited in the record, the verdict and the message': {
    change: forge('calls', (one) => {
      Object.assign(callOf(one, 1), { output: '9', bytes: 1 });
      const [verdict] = one.verdicts;
      const [[result, ...results], [message, ...messages]] = [verdict!.calls!, verdict!.messages!];
      verdict!.calls = [{ ...result!, output: '9' }, ...results];
      verdict!.messages = [{ ...message!, content: '9' }, ...messages];
    }),
    file: 'turn-002.json',
    problem: /does not show the model what the environment said/,
  },
  'a failure of a tool said to be a result': {
    change: record('calls', 2, { outcome: 'ok' }),
    file: 'verdict-002.json',
    problem: /says calls\[0\]\.outcome "failed"; the records say "ok"/,
  },
  'a hint behind the results': {
    change: forge('calls', (one) => {
      const messages = one.verdicts[0]!.messages!;
      one.verdicts[0]!.messages = [
        ...messages.slice(0, -1),
        { ...messages.at(-1)!, content: `${messages.at(-1)!.content} It is 7.` },
      ];
    }),
    file: VERDICT,
    problem: /says messages .*It is 7.*; the records say/,
  },
  // Which calls there were.
  'a call dropped': {
    change: reply('calls', 1, (list) => list.slice(0, 1)),
    file: FIRST,
    problem: /says calls\[1\] nothing; the records say .*pear/,
  },
  'a call doubled': {
    change: reply('calls', 1, (list) => [...list, list[1]!]),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  'the order of calls changed': {
    change: reply('calls', 1, (list) => list.toReversed()),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  'all calls of a reply denied, and the reply judged': {
    change: forge('calls', (one) => {
      delete one.turns[0]!.calls;
      const { calls: _, messages: __, ...verdict } = one.verdicts[0]!;
      one.verdicts[0] = { ...verdict, verdict: 'wrong', reason: 'different' };
      one.calls = one.calls.filter(({ turn }) => turn !== 1);
    }),
    file: FIRST,
    problem: /says calls nothing; the records say/,
  },
  'an answer said to be a call': {
    change: forge('calls', (one) => {
      one.turns[2]!.calls = one.turns[1]!.calls!;
      one.verdicts[2] = { ...one.verdicts[1]!, turn: 3 };
      one.calls.push({ ...callOf(one, 2), turn: 3, key: 'tools/calls/0/1/3/1' });
    }),
    file: 'turn-003.json',
    problem: /says calls .*; the records say nothing/,
  },
  'the name of a tool changed in the reply': {
    change: inReply('calls', (call) => (call['name'] = 'add')),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  'arguments changed': {
    change: inReply('calls', (call) => (call['arguments'] = '{"fruit":"plum"}')),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  'a refused call said to be a good one': {
    change: inReply('bad', (call) => {
      delete call['error'];
      Object.assign(call, { name: 'price', arguments: '{"fruit":"plum"}' });
    }),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  'another reason of a refusal': {
    change: inReply('bad', (call) => (call['error'] = 'No.')),
    file: FIRST,
    problem: /says calls\[\d\].*; the records say/,
  },
  // Which record is of which call.
  'a record of a call removed': {
    change: forge('calls', (one) => removed(one, 'calls', 1)),
    file: CALL,
    problem: /is missing, though the reply to its turn is there/,
  },
  'a record of a call moved to another turn': {
    change: record('calls', 1, { turn: 3 }),
    file: 'call-003.001.json',
    problem: /is of call 1 of turn 3, which is not there or could not be run/,
  },
  'a record of a call moved to another place': {
    change: record('calls', 1, { call: 7 }),
    file: 'call-001.007.json',
    problem: /is of call 7 of turn 1, which is not there/,
  },
  'a record for a call that was refused': {
    change: forge('bad', (one) => one.calls.push({ ...callOf(one, 3), turn: 1, key: 'tools/bad/0/1/1/1' })),
    file: CALL,
    problem: /which is not there or could not be run/,
  },
  'a key of another rollout': {
    change: record('calls', 1, (whole) => ({ key: callOf(of(whole, 'order'), 1).key })),
    file: CALL,
    problem: /says key "tools\/order\/.*"; the records say "tools\/calls/,
  },
  'a key of another attempt': {
    change: record('calls', 1, { key: 'tools/calls/0/2/1/1' }),
    file: CALL,
    problem: /says key/,
  },
  'the name of a tool changed in the record': {
    change: record('calls', 1, { name: 'add' }),
    file: CALL,
    problem: /says name "add"; the records say "price"/,
  },
  'a call of other code': {
    change: record('calls', 1, { tool: 'f'.repeat(64) }),
    file: CALL,
    problem: /says tool "f{64}"; the records say/,
  },
  // Once is once.
  'an effect changed in the record': {
    change: record('order', 1, { effect: 'pure' }),
    file: CALL,
    problem: /says effect "pure"; the records say "once"/,
  },
  'an effect changed in the rollout': {
    change: effectOf('once'),
    file: 'rollout.json',
    problem: /says settings\.tools\.list\[0\]\.effect "once"; run\.json says/,
  },
  'an effect changed in the whole run, and the intents left': {
    change: effectOf('pure'),
    file: 'intent-001.001.json',
    problem: /only a tool with the effect "once" has an intent/,
  },
  'an intent removed': {
    change: forge('order', (one) => removed(one, 'intents', 1)),
    file: 'intent-001.001.json',
    problem: /is missing, though the tool must not be called twice and was called/,
  },
  'an intent of a call that may be repeated': {
    change: forge('order', (one) => {
      const { turn, call, of: hash, name, key, attempt, startedAt } = callOf(one, 3, 1);
      one.intents.push({ turn, call, of: hash, name, key, attempt, at: startedAt });
    }),
    file: 'intent-003.001.json',
    problem: /only a tool with the effect "once" has an intent/,
  },
  'a second attempt that called again': {
    change: record('order', 1, { attempt: 2 }),
    file: CALL,
    problem: /says attempt 2; the records say 1/,
  },
  'an intent written behind its call': {
    change: forge('order', (one) => (one.intents[0]!.at += 1)),
    file: CALL,
    problem: /says startedAt \d+; the records say \d+/,
  },
  // Rewards and times.
  'a reward for calls': {
    change: forge('calls', (one) => (one.verdicts[0] = { ...one.verdicts[0]!, reward: 5 })),
    file: VERDICT,
    problem: /says reward 5; the records say nothing/,
  },
  'a call that took longer than its record says': {
    change: forge('calls', (one) => (one.verdicts[0]!.tookMs += 1)),
    file: VERDICT,
    problem: /says tookMs 1161; the records say 1160/,
  },
  'a call before the reply that holds it': {
    change: forge('calls', (one) => {
      const call = callOf(one, 1);
      call.startedAt -= 60_000;
      call.finishedAt -= 60_000;
    }),
    file: CALL,
    problem: /ms before the reply that holds the call was finished/,
  },
  'a call after the next turn': {
    change: forge('calls', (one) => {
      const call = callOf(one, 1);
      call.startedAt += 60_000;
      call.finishedAt += 60_000;
    }),
    file: CALL,
    problem: /ms after the next turn was begun/,
  },
};

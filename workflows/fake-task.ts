// A task without Everturn, for tests of an agent's function: its calls get the replies that the test gives, in order.

import type { Json, JsonObject } from '../domain/text/json.ts';
import type { Message, Question, Reply, Task } from './agent-task.ts';
import { mustBeReward, wholeQuestion } from './question.ts';

/** A text, or what a reply has beside it. */
export type FakeReply =
  | string
  | {
      readonly text?: string;
      readonly reasoning?: string;
      readonly calls?: readonly { readonly name: string; readonly arguments: Json }[];
      readonly finish?: Reply['finish'];
      readonly usage?: Reply['usage'];
    };

export interface FakeTask extends Task {
  /** What was asked, in order. */
  readonly asked: readonly Question[];
  /** The rewards of calls, by the id of the reply. */
  readonly rewards: Readonly<Record<string, number>>;
}

/** The first call gets the first of the replies, whichever is asked; a call beyond them rejects. */
export function fakeTask({
  replies,
  row = {},
  seed = 1,
  key = 'run/query/0/1',
}: {
  readonly replies: readonly FakeReply[];
  readonly row?: JsonObject;
  readonly seed?: number;
  readonly key?: string;
}): FakeTask {
  const asked: Question[] = [];
  const rewards: Record<string, number> = {};
  return {
    ...{ row, seed, key, asked, rewards },
    async ask(question) {
      const whole = wholeQuestion(question);
      const reply = replies[asked.length];
      asked.push(whole);
      if (reply === undefined)
        throw new Error(`fakeTask has ${replies.length} replies, and call ${asked.length} was made`);
      return wholeReply(reply, asked.length);
    },
    reward({ id }, reward) {
      mustBeReward(id, reward, (one) => asked.some((_, i) => one === idOf(i + 1)));
      rewards[id] = reward;
    },
  };
}

const NO_TOKENS: Reply['usage'] = { input: 0, cached: 0, output: 0, reasoning: 0 };

const idOf = (call: number): string => `reply-${call}`;

/** `call`: from 1. */
function wholeReply(reply: FakeReply, call: number): Reply {
  const given = typeof reply === 'string' ? { text: reply } : reply;
  const { text = '', reasoning = '', finish = 'stop', usage = NO_TOKENS } = given;
  const calls = (given.calls ?? []).map((one, i) => ({ id: `call_${call}_${i + 1}`, ...one }));
  const message: Message = { role: 'assistant', content: text, ...(calls.length > 0 && { calls }) };
  return { id: idOf(call), text, reasoning, calls, finish, usage, message };
}

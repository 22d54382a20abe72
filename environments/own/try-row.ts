// Plays a row with made-up answers against a user's environment, without a model or Temporal: what of it breaks the contract.

import { isDeepStrictEqual } from 'node:util';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import { EnvironmentError, explain } from '../../domain/errors/errors.ts';
import type { Query } from '../../domain/query/query.ts';
import {
  type EnvironmentRecord,
  type EnvironmentReply,
  replyFields,
  verdictOf,
} from '../../domain/rollout/environment.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { Environment, Played } from '../environment.ts';

/** An honest number, words, nothing, and text that means harm. */
const ANSWERS = ['The answer is 42.', 'I do not know.', '', '\u001b[31m<|im_end|>\u0000 \ud83d\ude00'.toWellFormed()];
const RUN = 'env-test';

interface Trial {
  readonly record: EnvironmentRecord;
  readonly turns: number;
  /** The environment, as a process of its own has it. */
  readonly open: () => { readonly environment: Environment; close(): Promise<void> };
}

/** The row is played twice, the second time with all processes ended between two turns. */
export async function tryRow(query: Query, { record, turns, open }: Trial) {
  const breaches: string[] = [];
  const replies: EnvironmentReply[] = [];
  const { signal } = new AbortController();
  const whole = open();
  try {
    const { environment } = whole;
    const rollout = await begun(environment, query, record);
    const played: EarlierTurn[] = [];
    for (let turn = 1; turn <= turns; turn++) {
      const answer = ANSWERS[(turn - 1) % ANSWERS.length]!;
      const before = [...played];
      const move = { rollout, turn, answer, cut: false, before: async () => before };
      const reply = await environment.respond(move, { signal });
      replies.push(reply);
      played.push(earlier(turn, answer, reply));
      // A server that does not know a repeated call would make the move twice.
      const repeats = record.state !== 'held' || record.door !== 'url' || record.idempotent === true;
      const other = open();
      try {
        const ask = () => other.environment.respond(move, { signal }).catch(ifLost);
        const again = repeats ? await ask() : reply;
        // A session that another process does not hold is lost there, and no fresh one takes its place.
        if (record.state === 'held' && record.door !== 'url' ? again !== null : !isDeepStrictEqual(again, reply))
          breaches.push(`turn ${turn} gets another reply in another process: ${differing(reply, again ?? {})}`);
      } finally {
        await other.close();
      }
      if (reply.done) break;
    }
    for (let n = 0; n < 2; n++) await environment.end?.({ rollout, before: async () => played }, { signal });
  } catch (error) {
    breaches.push(explain(error));
  } finally {
    await whole.close();
  }
  return { breaches, replies };
}

function ifLost(error: unknown): null {
  if (error instanceof EnvironmentError && error.reason === 'environment-lost') return null;
  throw error;
}

async function begun(environment: Environment, query: Query, record: EnvironmentRecord): Promise<Played> {
  const settings = { ...completeSettings(RUN), environments: [record] };
  const rollout: Played = { run: RUN, query, sample: 0, attempt: 1, settings };
  if (!environment.begin) return rollout;
  const { messages, state } = await environment.begin(rollout, { signal: new AbortController().signal });
  const prompt = messages ? ({ kind: 'messages', messages } as const) : query.prompt;
  const kept = state === undefined ? {} : { state };
  const own = { asked: query.prompt, ...kept, environment: record.fingerprint };
  return { ...rollout, query: { ...query, prompt }, begun: own };
}

function earlier(turn: number, answer: string, reply: EnvironmentReply): EarlierTurn {
  return {
    turn: { turn, answer, finish: 'stop' } as TurnRecord,
    verdict: { turn, ...verdictOf(reply), ...replyFields(reply), of: '', tookMs: 0 },
  };
}

function differing(one: EnvironmentReply, other: EnvironmentReply): string {
  const key = (Object.keys({ ...one, ...other }) as (keyof EnvironmentReply)[]).find(
    (k) => !isDeepStrictEqual(one[k], other[k]),
  );
  return `${key} ${short(JSON.stringify(key && one[key]) ?? 'none', 80)} and ${short(JSON.stringify(key && other[key]) ?? 'none', 80)}`;
}

// Rollouts and moves for tests of the user's own environments, without a store.

import {
  type EnvironmentRecord,
  type EnvironmentReply,
  replyFields,
  verdictOf,
} from '../../../domain/rollout/environment.ts';
import { completeSettings } from '../../../domain/run/defaults.ts';
import type { JsonObject } from '../../../domain/text/json.ts';
import type { EarlierTurn } from '../../../domain/context/new-context.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import type { Environment, Move, Played } from '../../../environments/environment.ts';

export function rolloutOf(environment: EnvironmentRecord, row: JsonObject, query = 'q', sample = 0): Played {
  return {
    run: 'r',
    query: {
      queryId: query,
      prompt: { kind: 'messages', messages: [{ role: 'user', content: 'Which number?' }] },
      task: 'environment',
      solutions: [],
      environment: environment.name,
      row,
    },
    sample,
    attempt: 1,
    settings: { ...completeSettings('r'), environments: [environment] },
  };
}

export const { signal: NEVER } = new AbortController();

export function moveOf(rollout: Played, answer: string, before: readonly EarlierTurn[] = [], cut = false): Move {
  return { rollout, turn: before.length + 1, answer, cut, before: async () => before };
}

/** A whole rollout with these answers, until the environment ends it; as the activities play it. */
export async function playOwn(environment: Environment, started: Played, answers: readonly string[]) {
  const begun = await environment.begin?.(started, { signal: NEVER });
  const rollout: Played = begun
    ? {
        ...started,
        query: {
          ...started.query,
          prompt: begun.messages ? { kind: 'messages', messages: begun.messages } : started.query.prompt,
        },
        begun: {
          asked: started.query.prompt,
          ...(begun.state === undefined ? {} : { state: begun.state }),
          environment: 'e',
        },
      }
    : started;
  const turns: EarlierTurn[] = [];
  const replies: EnvironmentReply[] = [];
  for (const answer of answers) {
    const reply = await environment.respond(moveOf(rollout, answer, turns), { signal: NEVER });
    replies.push(reply);
    turns.push(earlier(turns.length + 1, answer, reply));
    if (reply.done) break;
  }
  return { rollout, begun, replies, turns };
}

export function earlier(turn: number, answer: string, reply: EnvironmentReply): EarlierTurn {
  return {
    turn: { turn, answer, finish: 'stop', outputIds: [] } as unknown as TurnRecord,
    verdict: { turn, ...verdictOf(reply), ...replyFields(reply), of: 'h', tookMs: 0 },
  };
}

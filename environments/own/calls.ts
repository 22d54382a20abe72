// The calls of an environment, over any transport: their parameters are made from the records of a rollout, and their results
// are read strictly.

import type { Begun, EnvironmentRecord, EnvironmentReply } from '../../domain/rollout/environment.ts';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import type { Environment, EnvironmentCall, Move, Played } from '../environment.ts';
import { parseBegun, parseReply } from './reply.ts';
import { type Answer, beginParams, endParams, episodeOf, respondParams, stateAfter } from '../wire.ts';

/** A call in flight. */
export interface Asked extends EnvironmentCall {
  /** The same for every try of this call, and for no other call. */
  readonly key: string;
}

/** Makes one call, and gives its result unread. */
export type Ask = (method: 'begin' | 'respond' | 'end', params: object, asked: Asked) => Promise<unknown>;

export interface EnvironmentCalls {
  begin(rollout: Played, call: EnvironmentCall): Promise<Begun>;
  respond(move: Answer, before: readonly EarlierTurn[], call: EnvironmentCall): Promise<EnvironmentReply>;
  end(rollout: Played, turns: readonly EarlierTurn[], call: EnvironmentCall): Promise<void>;
}

export function environmentCalls({ name, state: kind, credits }: EnvironmentRecord, ask: Ask): EnvironmentCalls {
  return {
    async begin(rollout, call) {
      const params = beginParams(rollout);
      return parseBegun(name, kind, await ask('begin', params, { ...call, key: params.episode.key }));
    },
    async respond(move, before, call) {
      const params = respondParams(move, before, kind);
      const result = await ask('respond', params, { ...call, key: `${params.episode.key}/${move.turn}` });
      const state = kind === 'value' ? stateAfter(move.rollout, before) : undefined;
      const { answer, rollout } = move;
      const inParts = credits && !rollout.settings.program ? { answer, settings: rollout.settings } : undefined;
      return parseReply(name, kind, result, state, inParts);
    },
    async end(rollout, turns, call) {
      await ask('end', endParams(rollout, turns, kind), { ...call, key: `${episodeOf(rollout).key}/end` });
    },
  };
}

/** An environment that holds nothing of a rollout on this worker. */
export function statelessEnvironment(record: EnvironmentRecord, ask: Ask): Environment {
  const { begin, respond, end } = environmentCalls(record, ask);
  return {
    ...(record.begins && { begin }),
    respond: async (move: Move, call) => respond(move, await move.before(), call),
    ...(record.ends && { end: async ({ rollout, before }, call) => end(rollout, await before(), call) }),
  };
}

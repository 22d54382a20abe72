// Proves across rollouts that their turns are of one model: one name at each server, and budgets that end where a context ends.

import { isFolder } from '../../domain/weights/model-identity.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { turnFile } from '../format/layout.ts';
import type { OnBreach } from '../store.ts';
import { serversOf } from './servers.ts';
import type { CheckedRollout } from './checked.ts';

/** The model and the budget of one turn. */
export interface TurnModel extends Pick<TurnRecord, 'turn' | 'model' | 'server' | 'contextLength' | 'maxNewTokens'> {
  readonly hasIds: boolean;
  readonly wanted: Pick<RolloutSettings, 'model' | 'maxNewTokens'>;
}

export function turnModelsOf({ rollout: { settings }, turns }: CheckedRollout): TurnModel[] {
  const wanted = { model: settings.model, maxNewTokens: settings.maxNewTokens };
  return turns.flatMap((found, i) => {
    if (!found) return [];
    const { model, server, contextLength, maxNewTokens, trainable } = found.record;
    return [{ turn: i + 1, model, server, contextLength, maxNewTokens, hasIds: trainable !== false, wanted }];
  });
}

export function openModelCheck(onBreach: OnBreach): (folder: string, turns: readonly TurnModel[]) => void {
  const budgets = openBudgetCheck();
  /** By server; an embedded model has none. */
  const models = new Map<string | null, string>();
  return (folder, turns) => {
    for (const turn of turns) {
      const { model, server } = turn;
      const say = (problem: string) => onBreach({ path: `${folder}/${turnFile(turn.turn)}`, problem });
      const budget = budgets(turn);
      if (budget) say(budget);
      // A folder says which weights a server loaded, as the versions do.
      if (server !== null && isFolder(model)) continue;
      const known = models.get(server);
      if (known === undefined) models.set(server, model);
      else if (known !== model)
        say(`says the model ${JSON.stringify(model)}; another turn of the run says ${JSON.stringify(known)}`);
    }
  };
}

/** Servers may be restarted with another length. */
const LENGTHS_EACH = 2;

/** An embedded model has one context length: a budget that was cut reaches it, and no other goes beyond it. */
function openBudgetCheck() {
  /** By model: the length that a cut budget reached, and the longest that one that was not cut reached. */
  const lengths = new Map<string, { cut: number | null; longest: number }>();
  const cuts = new Map<string, Set<number>>();
  /** A budget is cut by the end of a context, and a fleet has few lengths of those. */
  const ofServer = (model: string, length: number): string | undefined => {
    const known = cuts.get(model) ?? new Set();
    cuts.set(model, known.add(length));
    return known.size > LENGTHS_EACH * (1 + (serversOf(model)?.length ?? 0))
      ? `has a budget that was cut at ${length} tokens; budgets of the run end at ${known.size} lengths, and a context has one`
      : undefined;
  };
  return ({ wanted: { model, maxNewTokens: wanted }, ...turn }: TurnModel): string | undefined => {
    if (!turn.hasIds) return undefined;
    const length = turn.contextLength + turn.maxNewTokens;
    if (turn.server !== null) return turn.maxNewTokens < wanted ? ofServer(model, length) : undefined;
    const known = lengths.get(model) ?? { cut: null, longest: 0 };
    lengths.set(model, known);
    if (turn.maxNewTokens < wanted) {
      known.cut ??= length;
      if (known.cut !== length)
        return `has a budget of ${turn.maxNewTokens} new tokens, up to ${length}; another was cut to ${known.cut}`;
    }
    known.longest = Math.max(known.longest, length);
    return known.cut !== null && known.longest > known.cut
      ? `has a budget up to ${length} tokens; the model's context was full at ${known.cut}`
      : undefined;
  };
}

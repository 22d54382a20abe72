// Proves the sets that tokens were drawn from: each holds its token and is no larger than top-k lets it be, the only id of a set
// was sure, and a turn's sets begin with those of its chunks. With the model itself, a forced pass over recorded answers says
// which ids its distribution keeps there.

import { contextIds } from '../../domain/rollout/turn-facts.ts';
import { drawsFromSets, type KeptSet, largestSet, unpackedKept } from '../../domain/rollout/kept-sets.ts';
import type { Sampling } from '../../domain/rollout/sampling.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { rolloutFolder } from '../format/layout.ts';
import { fileOf } from '../format/rollout-file.ts';
import { readTrajectories, rolloutsInOrder } from '../reading/trajectories.ts';
import type { OnBreach, Store } from '../store.ts';

type Sampled = Pick<TurnRecord | ChunkRecord, 'kept' | 'outputIds' | 'logprobs'>;

/** The logprob of a token that nothing else could take the place of is 0, in the precision of a server. */
const SURE = -0.01;

/** Sets that cannot be read are a fault of the record's form. */
export function* keptProblems(
  { kept, outputIds, logprobs, server }: Sampled & Pick<TurnRecord, 'server'>,
  settings: RolloutSettings,
): Generator<string> {
  const sets = kept === undefined ? null : unpackedKept(kept);
  if (!sets) return;
  if (!drawsFromSets(settings)) return yield 'has kept sets, and its rollout leaves no token out';
  if (sets.length !== outputIds.length)
    return yield `has ${sets.length} kept sets for ${outputIds.length} output tokens`;
  for (const [i, set] of sets.entries()) {
    if (!set) continue;
    const token = `output token ${i + 1}`;
    if (!set.includes(outputIds[i]!)) return yield `says that ${token} was drawn from ids without it`;
    if (set.length > largestSet(settings.topK, server))
      return yield `says that ${token} was drawn from ${set.length} ids; top-k is ${settings.topK}`;
    if (set.length === 1 && settings.logprobs === 'policy' && logprobs[i]! < SURE)
      return yield `says that ${token} was drawn from itself alone, with the logprob ${logprobs[i]}`;
  }
}

/** Whether a turn's sets begin with those of its parts. */
export function keptBegins(turn: Sampled, parts: readonly Sampled[]): boolean {
  const whole = setsOf(turn);
  return parts.flatMap(setsOf).every((set, i) => `${set}` === `${whole[i]}`);
}

const setsOf = ({ kept, outputIds }: Sampled): readonly KeptSet[] =>
  (kept === undefined ? null : unpackedKept(kept)) ?? outputIds.map(() => null);

/** An answer as a context: the place in it of the first set that its model does not keep; null if there is none. */
export type ForcedPass = (answer: {
  readonly contextIds: readonly number[];
  readonly outputIds: readonly number[];
  readonly sets: readonly KeptSet[];
  readonly sampling: Sampling;
}) => Promise<number | null>;

/** A forced pass takes as long as drawing the tokens did: it ends with the answer in which one of these is reached. */
const MOST_TOKENS = 1000;
const MOST_OF_ONE = 200;
const MOST_MS = 10_000;

/** Over the first answers of the model's own weights, as it was loaded. Returns the number of tokens that were compared. */
export async function checkForced(store: Store, pass: ForcedPass, onBreach: OnBreach): Promise<number> {
  let tokens = 0;
  const until = Date.now() + MOST_MS;
  const ids = rolloutsInOrder(store, { partly: true });
  // What is broken was reported.
  for await (const { rollout, turns } of readTrajectories(store, { ids, onBroken: () => {} })) {
    const { query, sample, attempt, settings } = rollout;
    const records = turns.map(({ record }) => record);
    for (const record of records) {
      const { turn, kept, versions, carried } = record;
      const isOwn = versions.every(({ version, versionLabel }) => version === 0 && versionLabel === undefined);
      if (kept === undefined || !isOwn || carried) continue;
      const outputIds = record.outputIds.slice(0, MOST_OF_ONE);
      const sets = setsOf(record).slice(0, MOST_OF_ONE);
      if (sets.length !== outputIds.length) continue;
      tokens += outputIds.length;
      const context = contextIds(records, turn);
      const at = await pass({ contextIds: context, outputIds, sets, sampling: settings });
      const path = `${rolloutFolder({ query: query.queryId, sample, attempt })}/${fileOf('turn', turn)}`;
      if (at !== null)
        onBreach({ path, problem: `says that output token ${at + 1} was drawn from other ids than its model keeps` });
      if (tokens >= MOST_TOKENS || Date.now() > until) return tokens;
    }
  }
  return tokens;
}

// One rollout, proved by itself, and what comparing it with all others takes: small facts without tokens or texts, which
// another thread can find and send. Everything here follows from the run's records alone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, RolloutResult } from '../../domain/rollout/ending.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Breach, OnBreach, Store } from '../store.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { ExportCheck } from './export.ts';
import { checkLogs } from './logs.ts';
import { type PlayedQuery, playedQueryOf } from './queries.ts';
import { countedOf } from './result.ts';
import { rememberedTokenizer } from './remembered-tokenizer.ts';
import { checkRollout } from './rollout.ts';
import { type Traits, traitsOf } from './traits.ts';
import type { CheckedRollout, ReplayFacts } from './checked.ts';

export interface RolloutFacts {
  readonly id: RolloutId;
  readonly breaches: readonly Breach[];
  /** Undefined if its first record cannot be read. */
  readonly found?: Found;
}

export interface Found {
  /** Finished turns. */
  readonly turns: number;
  /** Undefined while it has not ended. */
  readonly outcome: Outcome | undefined;
  /** A sample of the export follows from it. */
  readonly isExported: boolean;
  /** Undefined for a rollout that is none of the data set's. */
  readonly query: PlayedQuery | undefined;
  readonly counted: RolloutResult | undefined;
  readonly traits: Traits;
  /** Paths of its logs. */
  readonly logs: readonly string[];
}

export interface FactsOptions extends Omit<ReplayFacts, 'run'> {
  /** The version that checks. */
  readonly everturn?: string | undefined;
  readonly export?: Pick<ExportCheck, 'undecided' | 'humanTurns'> & {
    readonly exporter: Pick<ExportCheck['exporter'], 'needsIds'>;
  };
}

const LOOKS = 3;
const LOOK_AGAIN_MS = 100;

/** `run`: its record, if it can be read. */
export function openFacts(
  store: Store,
  run: RunRecord | undefined,
  options: FactsOptions,
): (id: RolloutId) => Promise<RolloutFacts> {
  // Another version may read a reply otherwise.
  const calls = options.everturn === run?.versions.everturn ? options.calls : undefined;
  const tokenizer = options.tokenizer && rememberedTokenizer(options.tokenizer);
  const facts = { ...options, run, calls, tokenizer };

  /** One that is being written may seem wrong, so it is read a second time. */
  async function look(id: RolloutId) {
    for (let left = LOOKS; ; left--) {
      const breaches: Breach[] = [];
      const note: OnBreach = (breach) => breaches.push(breach);
      const rollout = await checkRollout(store, id, note, facts);
      const logs = rollout ? await checkLogs(store, rollout, note) : [];
      if (breaches.length === 0 || rollout?.end || left === 1) return { breaches, rollout, logs };
      await sleep(LOOK_AGAIN_MS);
    }
  }

  return async (id) => {
    const { breaches, rollout, logs } = await look(id);
    if (!rollout) return { id, breaches };
    const found: Found = {
      turns: rollout.turns.filter((turn) => turn !== undefined).length,
      outcome: rollout.end?.outcome,
      isExported: options.export !== undefined && isExported(rollout, options.export),
      query: playedQueryOf(rollout),
      counted: countedOf(rollout),
      traits: traitsOf(rollout),
      logs,
    };
    return { id, breaches, found };
  };
}

/** Counted from the verdicts alone, by another method than an export uses to find its turns. */
function isExported(
  { rollout, turns, verdicts, end }: CheckedRollout,
  { exporter, undecided, humanTurns }: NonNullable<FactsOptions['export']>,
): boolean {
  if (!end || (end.said && humanTurns !== 'include')) return false;
  const judged = verdicts.findIndex((verdict) => verdict?.verdict === 'undecided');
  const { outcome } = end;
  if (outcome !== 'complete' && !(outcome === 'undecided' && undecided === 'finished-turns' && judged > 0))
    return false;
  const exported = (outcome === 'complete' ? turns : turns.slice(0, judged)).slice((rollout.parent?.turn ?? 1) - 1);
  // A fork of which no own turn was played.
  if (exported.length === 0) return false;
  return !exporter.needsIds || exported.every((turn) => turn?.record.trainable !== false);
}

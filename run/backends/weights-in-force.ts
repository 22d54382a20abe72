// The weights that answer a run: those of its own updates, or for an evaluation those of its training run.

import { explain } from '../../domain/errors/errors.ts';
import { namedAdapter } from '../../domain/weights/adapter.ts';
import { type DeclaredWeights, isLate, type WeightsLedger } from '../../domain/weights/weights.ts';
import type { LateServers } from '../../inference/backend.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import type { Evaluated } from '../evaluations.ts';

/** Asked to bring a run's servers up to date, at most so often. */
const UPDATE_EVERY_MS = 3000;

/** `onLate`: a server of the run came back without the weights in force. */
export function openWeightsInForce(
  log: (line: string) => void,
  onLate: (runFolder: string, current: DeclaredWeights) => void,
) {
  const ledgers = new Map<string, WeightsLedger>();
  function ledgerOf(runFolder: string): WeightsLedger {
    const ledger = ledgers.get(runFolder) ?? openWeightsLedger(runFolder);
    ledgers.set(runFolder, ledger);
    return ledger;
  }
  return {
    ledgerOf,
    /** `own`: the weights with which an embedded model answers; null where it has none of this run. */
    async of(runFolder: string, evaluated: Evaluated | undefined) {
      const { entries, current } = evaluated
        ? await ledgerOf(evaluated.folder).read()
        : { entries: [], current: await ledgerOf(runFolder).current() };
      // Servers answer an evaluation with the weights that they have.
      if (!evaluated || !current || current.contentHash === null) return { current, own: current };
      return { current, own: entries.find(({ label }) => label === evaluated.label) ?? null };
    },
    /** Asks for an update of servers that come back without the weights in force. */
    lateServers(runFolder: string): LateServers {
      let askedAt = Number.NEGATIVE_INFINITY;
      return {
        async wanted(label) {
          const updates = await ledgerOf(runFolder).read();
          return isLate(label, updates) ? updates.current!.label : null;
        },
        async adapter() {
          const current = await ledgerOf(runFolder).current();
          return current && namedAdapter(current);
        },
        update() {
          if (performance.now() - askedAt < UPDATE_EVERY_MS) return;
          askedAt = performance.now();
          void ledgerOf(runFolder)
            .current()
            .then((current) => current && onLate(runFolder, current))
            .catch((error: unknown) => log(explain(error)));
        },
      };
    },
    /** Forgets all runs but these. */
    keepOnly(runFolders: ReadonlySet<string>): void {
      for (const folder of ledgers.keys()) if (!runFolders.has(folder)) ledgers.delete(folder);
    },
  };
}

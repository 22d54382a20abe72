// How many rollouts a run has in flight, against the generations that its workers take at once.

import type { Session } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { type Workers, workersOf } from '../../client/temporal/workers.ts';
import { count, plural } from './format.ts';

/** Undefined where there are slots for all, or nobody says how many there are. */
export function slotsText(maxConcurrent: number | null, workers: Workers | undefined | null): string | undefined {
  if (maxConcurrent === null || !workers || workers.workers === 0 || maxConcurrent <= workers.slots) return undefined;
  const takes = `${plural(workers.workers, 'worker')} ${workers.workers === 1 ? 'takes' : 'take'} ${plural(workers.slots, 'generation')} at once`;
  return `${count(maxConcurrent)} rollouts may be in flight, and ${takes}: the others wait for a slot. Start more workers, or give them more slots (\`everturn worker --slots\`), if the model can take more.`;
}

const NONE =
  "No worker is up: the run waits for one. Start `everturn worker` on any machine that reaches the run's folder and the model.";

/** Why the workers that are up play less than that many rollouts at once, or none. A local service starts its own. */
export async function workersText(
  { session, local }: { readonly session: Session; readonly local: boolean },
  inFlight: number,
): Promise<string | undefined> {
  const [elsewhere, workers] = await Promise.all([misrouted(session), workersOf(session)]);
  if (!local && workers?.workers === 0) return NONE;
  return elsewhere ?? slotsText(inFlight, workers);
}

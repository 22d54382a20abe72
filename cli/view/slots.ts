// How many rollouts a run has in flight, against the generations that its workers take at once; and which of its parts
// have not reported for long.

import type { Session } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { type Workers, workersOf } from '../../client/temporal/workers.ts';
import { OVERDUE_MS } from '../../domain/run/blocks.ts';
import { count, lasted, plural } from './format.ts';
import type { Paint } from './paint.ts';

/** `2 workers take 128 generations at once` */
export function takenText({ workers, slots }: Workers): string {
  return `${plural(workers, 'worker')} ${workers === 1 ? 'takes' : 'take'} ${plural(slots, 'generation')} at once`;
}

/** Undefined where there are slots for all, or nobody says how many there are. */
export function slotsText(maxConcurrent: number | null, workers: Workers | undefined | null): string | undefined {
  if (maxConcurrent === null || !workers || workers.workers === 0 || maxConcurrent <= workers.slots) return undefined;
  return `${count(maxConcurrent)} rollouts may be in flight, and ${takenText(workers)}: the others wait for a slot. Start more workers, or give them more slots (\`everturn worker --slots\`), if the model can take more.`;
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

/** Blocks of a large run that have reported nothing for so long that its counts leave out much of what they did. */
export interface SilentBlocks {
  readonly silent: number;
  /** Open blocks of the run. */
  readonly of: number;
  /** Since the oldest of their last reports. */
  readonly ms: number;
}

/** Null if each was heard of a while ago at most, and for a run without blocks. */
export function silentBlocksOf(heardAt: readonly number[] = [], now: number): SilentBlocks | null {
  const silent = heardAt.map((at) => now - at).filter((ms) => ms > OVERDUE_MS);
  return silent.length === 0 ? null : { silent: silent.length, of: heardAt.length, ms: Math.max(...silent) };
}

export function silentBlocksLine(found: SilentBlocks | null, paint: Paint): string[] {
  if (!found) return [];
  const { silent, of, ms } = found;
  const text = `${silent} of ${of} blocks of this run ${silent === 1 ? 'has' : 'have'} not reported for up to ${lasted(ms)}: the counts leave out what they did since.`;
  return [paint('yellow', text)];
}

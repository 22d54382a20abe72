// Blocks of a large run that have reported nothing for so long that its counts leave out much of what they did.

import { OVERDUE_MS } from '../../domain/run/blocks.ts';
import { lasted } from './format.ts';
import type { Paint } from './paint.ts';

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

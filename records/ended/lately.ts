// Ended rollouts that were just read: a reader asks for one record after the other, of several rollouts at once.

import type { EndedRollout } from './line.ts';

const ROLLOUTS = 32;
const BYTES = 64 * 1024 * 1024;

export function openLately() {
  const known = new Map<string, EndedRollout>();
  let bytes = 0;
  return {
    get: (key: string): EndedRollout | undefined => known.get(key),
    keep(key: string, rollout: EndedRollout): EndedRollout {
      for (const [first, oldest] of known) {
        if (known.size < ROLLOUTS && bytes + rollout.line.length <= BYTES) break;
        known.delete(first);
        bytes -= oldest.line.length;
      }
      known.set(key, rollout);
      bytes += rollout.line.length;
      return rollout;
    },
    clear(): void {
      known.clear();
      bytes = 0;
    },
  };
}

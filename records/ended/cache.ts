// The ended rollouts that were read last, in memory: a reader asks for one record of a rollout after the other, and reads
// several rollouts at once. Bounded by number and by bytes.

import type { EndedRollout } from './line.ts';

const ROLLOUTS = 32;
const BYTES = 64 * 1024 * 1024;

export function openCache() {
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

// Some seeds, one after the other, and what came of them: how often each transition was seen, and what broke.

import { play } from './play.ts';
import type { Sandbox } from './sandbox.ts';
import { TRANSITIONS } from './transitions.ts';

export interface Share {
  runs: number;
  /** Things that happened, over all runs. */
  moments: number;
  /** By transition. */
  readonly seen: Record<string, number>;
  readonly breaches: { readonly seed: number; readonly message: string }[];
}

interface Seeds {
  readonly first: number;
  readonly last: number;
  /** Ends with so many breaches. */
  readonly mostBreaches?: number;
}

export async function playShare(sandbox: Sandbox, seeds: Seeds): Promise<Share> {
  const seen: Record<string, number> = {};
  const share: Share = { runs: 0, moments: 0, seen, breaches: [] };
  const saw = (transition: string) => void (seen[transition] = (seen[transition] ?? 0) + 1);
  for (let seed = seeds.first; seed <= seeds.last; seed++) {
    share.runs++;
    try {
      share.moments += (await play(seed, sandbox, saw)).moments;
    } catch (error) {
      share.breaches.push({ seed, message: error instanceof Error ? error.message : String(error) });
      if (share.breaches.length >= (seeds.mostBreaches ?? 20)) break;
    }
  }
  return share;
}

/** Transitions that no run reached, and some that the table does not know. */
export function gaps({ seen }: Share): { readonly missed: string[]; readonly unknown: string[] } {
  return {
    missed: [...TRANSITIONS].filter((name) => !seen[name]),
    unknown: Object.keys(seen).filter((name) => !TRANSITIONS.has(name)),
  };
}

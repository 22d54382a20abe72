// Finds servers whose weights went back within a run: a turn that began after another one had ended with later weights. It
// is no breach, for each turn says its version. Memory: two times for each version of each server.

import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { isOlder } from '../../domain/weights/weight-version.ts';
import type { CheckedRollout } from './checked.ts';

/** The weights that ended a turn. */
export interface Served extends Pick<TurnRecord, 'server' | 'startedAt' | 'finishedAt'> {
  readonly version: number;
  readonly versionLabel?: string;
}

/** From the weights `before` to `now`, as the server names them; `at` is the latest turn that began so. */
export interface Fall {
  readonly server: string;
  readonly before: string;
  readonly now: string;
  readonly at: number;
}

export function servedOf({ turns }: CheckedRollout): Served[] {
  return turns.flatMap((turn) => {
    const span = turn?.record.versions.at(-1);
    if (!span || turn!.record.carried) return [];
    const { server, startedAt, finishedAt } = turn!.record;
    const { version, versionLabel } = span;
    return [{ server, startedAt, finishedAt, version, ...(versionLabel !== undefined && { versionLabel }) }];
  });
}

/** Workers' clocks may be `skewMs` apart. */
export function openFalls(skewMs: number): { add(turns: readonly Served[]): void; all(): Fall[] } {
  /** By server and version: the turn that ended first, and the one that began last. */
  const servers = new Map<string, Map<string, { ended: Served; began: Served }>>();
  return {
    add(turns) {
      for (const turn of turns) {
        if (turn.server === null) continue;
        const versions = servers.get(turn.server) ?? new Map<string, { ended: Served; began: Served }>();
        servers.set(turn.server, versions);
        const { ended, began } = versions.get(wordOf(turn)) ?? { ended: turn, began: turn };
        versions.set(wordOf(turn), {
          ended: turn.finishedAt < ended.finishedAt ? turn : ended,
          began: turn.startedAt > began.startedAt ? turn : began,
        });
      }
    },
    /** One for each server: the latest. */
    all() {
      return [...servers].flatMap(([server, versions]) => {
        const known = [...versions.values()];
        const fallen = known
          .filter(({ began }) => known.some(({ ended }) => isFall(ended, began)))
          .toSorted((a, b) => b.began.startedAt - a.began.startedAt)[0]?.began;
        if (!fallen) return [];
        const above = known.map(({ ended }) => ended).filter((ended) => isFall(ended, fallen));
        const before = above.reduce((one, other) => (isOlder(one, other) ? other : one));
        return [{ server, before: wordOf(before), now: wordOf(fallen), at: fallen.startedAt }];
      });
    },
  };

  function isFall(ended: Served, began: Served): boolean {
    return ended.finishedAt + skewMs < began.startedAt && isOlder(began, ended);
  }
}

const wordOf = ({ version, versionLabel }: Served): string => versionLabel ?? String(version);

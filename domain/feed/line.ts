// Lines of weights: every rewind begins one. The labels of published weights name their line, so the rewinds since say
// which weights survived. Leaves out versions that servers got without the feed: their line is not known.

import type { VersionSpan } from '../rollout/turn.ts';

/** Weights of lines up to `line` count up to `version` only: a later rewind took the others off. */
export interface Floor {
  readonly line: number;
  readonly version: number;
}

/** A rewind that named its request: sent again, it begins no other line. */
export interface RewindRequest {
  readonly request: string;
  readonly version: number;
  readonly line: number;
  /** Groups offered again. */
  readonly offered: number;
}

const MOST_FLOORS = 256;
const MOST_REQUESTS = 64;

/** Before a new line began by going back to `to`; both lists only grow along lines and versions. */
export function addFloor(floors: readonly Floor[], endedLine: number, to: number): Floor[] {
  const lower = floors.filter(({ version }) => version < to);
  const all = [...lower, { line: endedLine, version: to }];
  // The two oldest become one with the lower limit: that may call surviving weights ended, never the reverse.
  return all.length > MOST_FLOORS ? [{ line: all[1]!.line, version: all[0]!.version }, ...all.slice(2)] : all;
}

export function rememberRewind(known: readonly RewindRequest[], made: RewindRequest): RewindRequest[] {
  return [...known, made].slice(-MOST_REQUESTS);
}

/** The line whose trainer made this version of the surviving weights. */
export function lineOfVersion(version: number, floors: readonly Floor[]): number {
  return (floors.findLast((floor) => floor.version < version)?.line ?? -1) + 1;
}

/** The label under which the feed publishes weights, so that each token names its line. */
export function lineLabel(line: number, version: number): string {
  return `line${line}:v${version}`;
}

/** Did the weights of all these spans survive? Null where the line of one is not known and one of its number ended. */
export function survives(spans: readonly VersionSpan[], floors: readonly Floor[]): boolean | null {
  let isKnown: boolean | null = true;
  for (const { version, versionLabel } of spans) {
    const named = /^line(\d{1,9}):v\d+$/.exec(versionLabel ?? '')?.[1];
    const floor = named === undefined ? floors[0] : floors.find(({ line }) => Number(named) <= line);
    if (version <= (floor?.version ?? Infinity)) continue;
    if (named !== undefined) return false;
    isKnown = null;
  }
  return isKnown;
}

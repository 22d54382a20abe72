// In which phases was a worker when it died? Read from the marks that it left (marks.mjs), never from its own word
// afterwards: a phase counts as hit when a step of it had begun and had not ended.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PHASES = ['generating', 'evaluating', 'before-write', 'unacknowledged', 'collecting'] as const;
export type Phase = (typeof PHASES)[number];

/** Each phase with the steps that were in it. */
export function phasesAtDeath(folder: string, pid: number): ReadonlyMap<Phase, readonly string[]> {
  const file = join(folder, `${pid}.marks`);
  const open = new Map<string, { phase: string; what: string }>();
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const line of text.split('\n')) {
    const [, n, phase, ...what] = line.split(' ');
    if (!n || !phase) continue;
    if (phase === '-') open.delete(n);
    else open.set(n, { phase, what: what.join(' ') });
  }
  const hit = new Map<Phase, string[]>();
  for (const { phase, what } of open.values()) {
    const known = PHASES.find((each) => each === phase);
    if (known) hit.set(known, [...(hit.get(known) ?? []), what]);
  }
  return hit;
}

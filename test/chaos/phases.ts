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
    const [, n, phase, ...words] = line.split(' ');
    if (!n || !phase) continue;
    const what = words.join(' ');
    if (phase === '-') {
      open.delete(n);
      for (const name of filesOf(open, what)) open.delete(name);
      continue;
    }
    open.set(n, { phase, what });
    // Who writes does not generate or evaluate any more.
    if (n.startsWith('file:')) for (const step of activitiesOf(open, what)) step.phase = 'writing';
  }
  const hit = new Map<Phase, string[]>();
  for (const { phase, what } of open.values()) {
    const known = PHASES.find((each) => each === phase);
    if (known) hit.set(known, [...(hit.get(known) ?? []), what]);
  }
  return hit;
}

type Open = ReadonlyMap<string, { phase: string; what: string }>;

/** Files are `<query>/<sample> <name>`, activities `<type> <run>/<query>/<sample> <turn> <attempt>`. */
function filesOf(open: Open, activity: string): string[] {
  const rollout = activity.split(' ')[1]?.split('/').slice(1).join('/');
  return [...open].flatMap(([n, { what }]) => (n.startsWith('file:') && what.startsWith(`${rollout} `) ? [n] : []));
}

function activitiesOf(open: Open, file: string) {
  const rollout = file.split(' ')[0];
  return [...open].flatMap(([n, step]) =>
    !n.startsWith('file:') && step.what.split(' ')[1]?.endsWith(`/${rollout}`) ? [step] : [],
  );
}

// Hostile agents: what each attempts at its endpoint, its limits and its reader is refused or ends it by name; the others of the
// run are not touched, and no process stays.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { pidsWith } from '../../support/processes.ts';

const PROGRAM = join(import.meta.dirname, 'hostile.py');
/** How those end that do not answer. */
const ENDS: Readonly<Record<string, string>> = {
  'fork-bomb': 'agent-broken',
  'one-line': 'agent-broken',
  'never-ends': 'agent-timeout',
  // All that it sees are its own.
  'kills-workers': 'agent-ended-by-signal',
  'ends-itself': 'agent-ended-by-signal',
  fails: 'agent-exited',
  nan: 'agent-broken',
  infinite: 'agent-broken',
  nested: 'agent-broken',
};
interface RolloutEnd {
  readonly outcome: string;
  readonly failure?: { readonly reason: string };
}
const hasSandbox = spawnSync('bwrap', ['--version']).status === 0;
let everturn: Everturn;
let notes: string;
beforeAll(() => {
  everturn = openEverturn();
  notes = join(everturn.folder, 'notes');
  mkdirSync(notes);
});
afterAll(() => everturn.close());

test.skipIf(!hasSandbox)('are named, change nothing, and leave no process', { timeout: 600_000 }, async () => {
  const attacks = [...readFileSync(PROGRAM, 'utf8').matchAll(/^ {4}"([a-z-]+)": /gm)].map(([, id]) => id!);
  expect(attacks.length).toBeGreaterThanOrEqual(40);
  const rows = attacks.map((id) => JSON.stringify({ id, question: 'What is 20 + 22?', answer: '42' }));
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.join('\n'));
  const run = [
    'run',
    'rows.jsonl',
    '--name',
    'hostile',
    '--agent',
    `python3 ${PROGRAM} ${notes}`,
    '--agent-timeout',
    '40',
  ];
  const played = await everturn.run(...run, '--max-calls', '20', '--max-failed', '100', '--max-concurrent', '4');
  expect(played.code, played.stdout + played.stderr).toBe(0);
  const ends: Record<string, string> = {};
  // In this process, one after the other: so many commands at once take the machine from every test beside this one.
  for (const id of attacks) {
    const { stdout } = await everturn.call('show', 'hostile', id, '--json');
    const { end } = JSON.parse(stdout) as { readonly end: RolloutEnd };
    ends[id] = end.failure?.reason ?? end.outcome;
  }
  expect(ends).toEqual(Object.fromEntries(attacks.map((id) => [id, ENDS[id] ?? 'complete'])));
  const checked = await everturn.run('check', 'hostile');
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  await sleep(4000);
  expect(existsSync(join(notes, 'after'))).toBe(false);
  expect(pidsWith(PROGRAM)).toEqual([]);
});

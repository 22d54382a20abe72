// The import rules are real: lint names every kind of breach, and nothing that is allowed. That they hold in this
// repository is shown by `npm run lint`.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOMS, ROOT } from './tree.ts';

const ROOM_RULE = 'house(rooms)';
const CYCLE_RULE = 'import(no-cycle)';

/** Each file is planted into a house of its own rules; what follows is the lint rule that must name it, or null. */
const PLANTED: Record<string, { text: string; rule: string | null }> = {
  'domain/reads-a-file.ts': rooms("import { readFileSync } from 'node:fs';\nexport const read = readFileSync;"),
  'domain/asks-the-store.ts': rooms("import type { Store } from '../records/store.ts';\nexport type S = Store;"),
  'domain/knows-temporal.ts': rooms("import { sleep } from '@temporalio/workflow';\nexport const nap = sleep;"),
  'domain/validates.ts': rooms("import { z } from 'zod';\nexport const schema = z;"),
  'domain/text/knows-turns.ts': rooms(
    "import type { TurnRecord } from '../rollout/turn.ts';\nexport type T = TurnRecord;",
  ),
  'workflows/calls-an-activity.ts': rooms("import { act } from '../activities/act.ts';\nexport const a = act;"),
  'workflows/passes-an-activity-on.ts': rooms("export { act } from '../activities/act.ts';"),
  'workflows/mixes-types-and-values.ts': rooms(
    "import { type Act, act } from '../activities/act.ts';\nexport const a: Act = act;",
  ),
  'workflows/loads-an-activity-late.ts': rooms("export const late = () => import('../activities/act.ts');"),
  'workflows/runs-node.ts': rooms("import { join } from 'node:path';\nexport const j = join;"),
  'activities/constructs-a-store.ts': rooms("import { files } from '../records/files.ts';\nexport const f = files;"),
  'records/asks-the-model.ts': rooms("import { backend } from '../inference/backend.ts';\nexport const b = backend;"),
  'records/names-the-model.ts': rooms("export type B = import('../inference/backend.ts').Backend;"),
  'inference/decode/knows-temporal.ts': rooms("import { Client } from '@temporalio/client';\nexport const c = Client;"),
  'formats/exports/climbs-out.ts': rooms("import { s } from '../../records/store.ts';\nexport const x = s;"),
  'client/temporal/runs.ts': rooms("import { main } from '../cli/index.ts';\nexport const m = main;"),
  'viewer/page/reads-a-file.tsx': rooms("import { readFileSync } from 'node:fs';\nexport const read = readFileSync;"),
  'viewer/page/asks-the-server.ts': rooms("import { api } from '../api.ts';\nexport const a = api;"),
  'viewer/model/draws.ts': rooms("import { h } from 'preact';\nexport const x = h;"),
  'viewer/asks-the-model.ts': rooms("import { b } from '../inference/index.ts';\nexport const x = b;"),
  'packages/judge/knows-the-house.ts': rooms("import { egg } from '../../domain/egg-box.ts';\nexport const e = egg;"),
  'packages/judge/names-itself.ts': rooms("import { a } from '@everturn/judge';\nexport const x = a;"),
  'environments/climbs-in.ts': rooms("import { a } from '../packages/judge/inside.ts';\nexport const x = a;"),
  'cli/looks-inside.ts': rooms("import { a } from '../viewer/runs.ts';\nexport const x = a;"),
  'domain/rollout/looks-inside.ts': rooms("import type { A } from '../agent/claims.ts';\nexport type X = A;"),
  'domain/judges.ts': rooms("import { a } from '../packages/judge/index.ts';\nexport const x = a;"),
  'worker.ts': rooms("import { rig } from './test/support/rig.ts';\nexport const r = rig;"),
  'domain/egg.ts': cycle("import { hen } from './hen.ts';\nexport const egg = (): unknown => hen;"),
  'domain/hen.ts': cycle("import { egg } from './egg.ts';\nexport const hen = (): unknown => egg;"),
  'records/day.ts': cycle("import type { Night } from './night.ts';\nexport type Day = Night | 1;"),
  'records/night.ts': cycle("import type { Day } from './day.ts';\nexport type Night = Day | 2;"),
  'domain/stays-at-home.ts': good("import { egg } from './egg-box.ts';\nexport const e = egg;"),
  'domain/egg-box.ts': good('export const egg = 1;'),
  'domain/samples/knows-turns.ts': good(
    "import type { TurnRecord } from '../rollout/turn.ts';\nexport type T = TurnRecord;",
  ),
  'workflows/names-an-activity.ts': good(
    "import type { act } from '../activities/act.ts';\nexport type A = typeof act;",
  ),
  'activities/act.ts': good("import type { Store } from '../records/store.ts';\nexport const act = (s: Store) => s;"),
  'records/store.ts': good("import { join } from 'node:path';\nexport interface Store { join: typeof join }"),
  'inference/decode/model.ts': good("import { egg } from '../../domain/egg-box.ts';\nexport const m = egg;"),
  'packages/judge/index.ts': good("export { a } from './inside.ts';"),
  'packages/judge/inside.ts': good("import { join } from 'node:path';\nexport const a = join;"),
  'packages/judge/test/anything.ts': good("import { egg } from '../../../domain/egg-box.ts';\nexport const t = egg;"),
  'environments/asks-at-the-door.ts': good("import { a } from '../packages/judge/index.ts';\nexport const x = a;"),
  'cli/asks-at-the-door.ts': good("import { a } from '../viewer/index.ts';\nexport const x = a;"),
  'test/anything.ts': good("import { egg } from '../domain/egg-box.ts';\nexport const t = egg;"),
};

let house: string;
let named: Map<string, Set<string>>;

beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), 'everturn-house-'));
  for (const rules of ['.oxlintrc.json', '.oxlint-rooms.js']) cpSync(join(ROOT, rules), join(house, rules));
  for (const [path, { text }] of Object.entries(PLANTED)) {
    mkdirSync(dirname(join(house, path)), { recursive: true });
    writeFileSync(join(house, path), `${text}\n`);
  }
  named = lint(house);
});

afterAll(() => rmSync(house, { recursive: true, force: true }));

describe('the import rules', () => {
  test.each(planted((rule) => rule !== null))('lint names the breach in %s', (path, { rule }) => {
    expect([...(named.get(path) ?? [])]).toEqual([rule]);
  });

  test.each(planted((rule) => rule === null))('lint has nothing against %s', (path) => {
    expect(named.get(path)).toBeUndefined();
  });

  test('every room of the house has a line in the table', () => {
    const stray = mkdtempSync(join(tmpdir(), 'everturn-house-'));
    for (const rules of ['.oxlintrc.json', '.oxlint-rooms.js']) cpSync(join(ROOT, rules), join(stray, rules));
    for (const room of ROOMS) {
      mkdirSync(join(stray, room), { recursive: true });
      writeFileSync(
        join(stray, room, 'stray.ts'),
        `import { rig } from '${'../'.repeat(room.split('/').length)}test/support/rig.ts';\nexport const r = rig;\n`,
      );
    }
    const found = lint(stray);
    rmSync(stray, { recursive: true, force: true });
    expect([...found.keys()].toSorted()).toEqual(ROOMS.map((room) => `${room}/stray.ts`).toSorted());
  });
});

function rooms(text: string) {
  return { text, rule: ROOM_RULE };
}
function cycle(text: string) {
  return { text, rule: CYCLE_RULE };
}
function good(text: string) {
  return { text, rule: null };
}

function planted(which: (rule: string | null) => boolean) {
  return Object.entries(PLANTED).filter(([, { rule }]) => which(rule));
}

/** The rules on imports that are broken, by file. */
function lint(folder: string): Map<string, Set<string>> {
  const oxlint = join(dirname(createRequire(import.meta.url).resolve('oxlint/package.json')), 'bin/oxlint');
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, '--format', 'json'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
  const { diagnostics, number_of_files } = JSON.parse(stdout) as LintReport;
  if (!number_of_files) throw new Error(`oxlint read no file in ${folder}: ${stdout}${stderr}`);
  const byFile = new Map<string, Set<string>>();
  for (const { code, filename } of diagnostics) {
    if (code !== ROOM_RULE && code !== CYCLE_RULE) continue;
    const path = filename.replaceAll('\\', '/');
    byFile.set(path, (byFile.get(path) ?? new Set()).add(code));
  }
  return byFile;
}

interface LintReport {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
  readonly number_of_files: number;
}

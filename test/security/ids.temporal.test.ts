// Query ids that want to be paths, devices, other ids' twins: through the real store, and through the command line.
// Nothing is written outside the run's folder, no two ids meet, and what was played is found again by its id.

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { rolloutWorkflowId, safeName } from '../../domain/names/ids.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';
import { FULL, sized } from '../chaos/size.ts';
import { openEverturn } from '../support/everturn.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { textServer } from '../support/text-server.ts';
import { aQuery, RUN, someSettings } from '../records/play.ts';

const PATHS = ['..', '../../etc/passwd', '/', './/', '.', 'a/../../b', '..\\..\\x', 'C:\\x', '\\\\host\\share'];
const NAMES = 'CON con NUL.txt COM1 lpt9.json prn. x. .hidden ~root -rf --out $HOME `id` %2e%2e%2f a:b a*b? <x>|"y"';
const OURS = 'rollout.json .tmp .x.y.tmp x@1 x@1.2 x/0 x/0/retry-2 x/0/1 __proto__ constructor toString';
const TWINS =
  'é e\u0301 É E\u0301 ﬀ ff FF ß ss SS ı i I İ K k \u212a Å \u212b A\u030a ａ a A a\u200d a\u200b １ 1 01 1.0 x';
const SPACES = ['', ' x', 'x ', '\0', 'a\0b', 'a\nb', 'a\tb', '\u001b[2J', '\u202ex', 'a\ufeff'];
const ODD = ['\ud800', '\udc00x', '😀', '\u{10ffff}', '\ufffe', 'x'.repeat(4096), 'é'.repeat(500), '../'.repeat(100)];
const SEEDS = [...PATHS, ...[NAMES, OURS, TWINS].flatMap((text) => text.split(' ')), ...SPACES, ...ODD];

/** As many as are asked for, all different. */
function hostileIds(count: number): string[] {
  const ids = new Set(SEEDS);
  for (let i = 0; ids.size < count; i++) {
    const one = SEEDS[i % SEEDS.length]!;
    const other = SEEDS[(i * 13 + Math.floor(i / SEEDS.length)) % SEEDS.length]!;
    ids.add(
      [`${one}/${other}`, `${one}${other}`, `${i}${one}`, `${one}\u0301${i}`, `${one.toUpperCase()}${i}`][i % 5]!,
    );
  }
  return [...ids];
}

async function begin(store: Store, query: string): Promise<void> {
  const [sample, attempt, settings] = [0, 1, someSettings()];
  const record = { run: RUN, query: aQuery(query), index: 0, sample, attempt, settings, birthTime: 1 };
  await store.put('rollout', { run: RUN, query, sample, attempt }, record);
}

async function queriesIn(store: Store): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { query } of store.listRollouts((breach) => expect.fail(JSON.stringify(breach)))) found.add(query);
  return found;
}

/** What a file system that folds case and forms of Unicode takes as one name. */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .replace(/[. ]+$/, '');

const IDS = hostileIds(2000);

describe('hostile ids', () => {
  test('2,000 ids have 2,000 names, safe on every file system, and as many workflows', () => {
    const names = IDS.map(safeName);
    expect(new Set(names.map(folded)).size).toBe(2000);
    for (const name of names) {
      expect(name).toMatch(/^[a-z0-9._~-]{1,100}$/);
      expect(name).not.toMatch(/^\.|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/);
    }
    const workflows = IDS.flatMap((query) =>
      [0, 1].flatMap((sample) => [1, 2].map((attempt) => rolloutWorkflowId({ run: 'r', query, sample, attempt }))),
    );
    expect(new Set(workflows).size).toBe(8000);
  });

  test(
    'through the store: each is in its own folder, found by its id, and nothing lies outside',
    { timeout: 300_000 },
    async () => {
      const around = testFolder();
      const out = join(around, 'deep', 'runs');
      mkdirSync(out, { recursive: true });
      const ids = IDS.slice(0, sized(2000));
      const store = openFileStore(out, RUN);
      for (const query of ids) await begin(store, query);
      expect(readdirSync(around)).toEqual(['deep']);
      expect(readdirSync(join(around, 'deep'))).toEqual(['runs']);
      expect(readdirSync(out)).toEqual([RUN]);
      expect(await queriesIn(store)).toEqual(new Set(ids));
      for (const query of ids) {
        const id = { run: RUN, query, sample: 0, attempt: 1 };
        expect((await store.get('rollout', id))!.record.query.queryId).toBe(query);
      }
    },
  );

  test(
    'through the command line: what is accepted is played and found, what is not is named',
    { timeout: 600_000 },
    async () => {
      // Each of the seeds, and some of what they are joined to.
      const ids = hostileIds(FULL ? 2000 : 120);
      const everturn = openEverturn();
      const server = await textServer('It is \\boxed{2}.');
      try {
        const rows = ids.map((id) => ({ id, question: '1 + 1?', answer: '2' }));
        everturn.write('ids.jsonl', rows);
        const settings = ['--num-turns', '1', '--max-concurrent', '64', '--model', server.model];
        await everturn.mustCall('run', 'ids.jsonl', '--name', 'ids', ...settings);
        expect(readdirSync(everturn.folder).sort()).toEqual(['home', 'ids.jsonl', 'runs']);
        expect(readdirSync(join(everturn.folder, 'runs'))).toEqual(['ids']);

        const accepted = ids.filter((id) => queryFromRow({ id, question: 'x', answer: '2' }, '1').ok);
        expect(accepted.length).toBeGreaterThan(ids.length / 2);
        const store = openFileStore(join(everturn.folder, 'runs'), 'ids');
        expect(await queriesIn(store)).toEqual(new Set(accepted));
        const { turns } = await checkRun(store, (breach) => expect.fail(JSON.stringify(breach)));
        expect(turns).toBe(accepted.length);
        for (const id of accepted.filter((_, i) => i % Math.ceil(accepted.length / 6) === 0))
          await everturn.mustCall('show', 'ids', '--json', '--', id);
      } finally {
        server.close();
        await everturn.close();
      }
    },
  );
});

// The order of generations as an inference server with a bounded prefix cache sees it: many more rollouts in flight than slots.
// The share of later turns that go on from a conversation in the cache, and how many answers were asked before the last turn of
// the first trajectory: with the product's priorities, and in the order of arrival (the same build without them). The counts
// follow from the order alone, so a busy machine changes them little.
//   npm run build && npx vitest bench --run --project near test/bench/prefix.bench.ts

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from 'vitest';

const ROUNDS = Number(process.env['EVERTURN_BENCH_ROUNDS'] ?? 3);
const [SLOTS, ROLLOUTS, TURNS] = [8, 64, 5];
const DELAY_MS = Number(process.env['DELAY_MS'] ?? 250);
const ROOT = join(import.meta.dirname, '../..');
const PRIORITY = /priorityKey: Math\.max\([^)]*\),/;

/** This build, whose activities all have the same priority. */
function withoutPriorities(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-bench-arrival-'));
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'models', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
  const bundle = join(folder, 'dist/workflow-bundle.js');
  const code = readFileSync(bundle, 'utf8');
  const plain = code.replace(PRIORITY, '');
  if (plain === code) throw new Error('The bundle has no priorities.');
  writeFileSync(bundle, plain);
  return folder;
}

interface Seen {
  readonly later: number;
  readonly hits: number;
  readonly firstAt: Readonly<Record<string, number>>;
}

bench(
  'prefix cache',
  async () => {
    const arrival = withoutPriorities();
    process.env['EVERTURN_BENCH_AGAINST'] = arrival;
    const { openRig } = await import('./overhead-rig.ts');
    const load = { turns: TURNS, queries: ROLLOUTS, slots: SLOTS, delayMs: DELAY_MS, cache: 3 * SLOTS };
    const rig = await openRig({ ...load, out: tmpdir() });
    const play = async (run: string, which: 'whole' | 'other') => {
      await fetch(`${rig.modelUrl}/seen`);
      await rig.play(run, which, ROLLOUTS);
      const { later, hits, firstAt } = (await (await fetch(`${rig.modelUrl}/seen`)).json()) as Seen;
      const name = which === 'whole' ? 'turns after the first go first' : 'in the order of arrival';
      const share = ((100 * hits) / later).toFixed(0);
      console.log(
        `${name}: ${share} % of ${later} later turns cached, the first last turn is answer ${firstAt[TURNS]}`,
      );
    };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await play(`first-${round}`, 'whole');
        await play(`arrival-${round}`, 'other');
      }
    } finally {
      await rig.close();
      rmSync(arrival, { recursive: true });
    }
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);

// The promise: an evaluation of three benchmarks with two models, whose command line, workers, Temporal server and whole local
// service are killed again and again, pays for no answer twice, as the model servers counted outside: a turn is asked for again
// only after a kill took its answer. The same command, typed again, ends in the table of a calm evaluation.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn, type Running } from '../support/everturn.ts';
import type { Ask } from '../support/hostile-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { until } from '../support/until.ts';
import { canonical, checkRun } from './checker.ts';
import { type HostileModel, startHostileModel } from './model.ts';
import { kill } from './nemesis.ts';
import { commandOf, randomOf, SEED } from './seed.ts';
import { FULL } from './size.ts';
import { idOf } from './workload.ts';

const BENCHMARKS = ['rows.jsonl', 'table.csv', 'page.yaml'];
const MODELS = 2;
const QUERIES = FULL ? 40 : 4;
const [SAMPLES, TURNS] = [2, 3];
const AT_ONCE = FULL ? 16 : 8;
const EACH = FULL ? 8 : 1;
const KINDS = ['command', 'worker', 'server', 'service', 'everything'] as const;
type Kind = (typeof KINDS)[number];

let everturn: Everturn;
let models: HostileModel[];
let failed = true;
beforeAll(async () => {
  console.log(`Repeat: ${commandOf(import.meta.filename)}`);
  everturn = openEverturn();
  const rows = Array.from({ length: QUERIES }, (_, i) => ({
    ...{ id: idOf(i), question: `What is ${i + (i % 10)} - ${i}?`, answer: String(i % 10) },
  }));
  everturn.write('rows.jsonl', rows);
  const lines = rows.map(({ id, question, answer }) => `${id},Say: ${question},${answer}\n`);
  everturn.write('table.csv', `id,question,answer\n${lines.join('')}`);
  everturn.write(
    'page.yaml',
    'title: Sums\nsource: { dataset: rows.jsonl }\nprompt: "Sum: {{ question }}"\nscorer: judge\n',
  );
  models = await Promise.all(
    (['sglang', 'vllm'] as const).map((kind) => {
      const folder = join(everturn.folder, kind);
      mkdirSync(folder);
      const options = { kind, seed: SEED, latencyMs: FULL ? 1500 : 400, runs: join(everturn.folder, 'runs') };
      return startHostileModel(folder, options);
    }),
  );
});
afterAll(async () => {
  await Promise.all(models.map((model) => model.stop()));
  if (!failed) return everturn.close();
  console.error(`What is needed to see why: ${everturn.folder}\nRepeat: ${commandOf(import.meta.filename)}`);
});

const command = (name: string): string[] => [
  ...['eval', ...BENCHMARKS, '--name', name, ...models.flatMap(({ spec }) => ['--model', spec])],
  ...['--tokenizer', TINY_FOLDER, '--num-turns', String(TURNS), '--repeats', String(SAMPLES)],
  ...['--max-concurrent', String(AT_ONCE), '--max-new-tokens', '64', '--seed', '7', '--json'],
];

const asksOf = (name: string): Ask[] =>
  models.flatMap((model) => model.asks()).filter(({ key }) => key.startsWith(`${name}-`));

interface Evaluated {
  readonly benchmarks: readonly { readonly runs: readonly Cell[] }[];
}
interface Cell {
  readonly run: string;
  readonly label: string;
}

/** What the last event says. */
function evaluated(stdout: string): Evaluated {
  const last = stdout.trimEnd().split('\n').at(-1)!;
  return JSON.parse(last) as Evaluated;
}

/** Times and the name aside. */
function numbersOf({ benchmarks }: Evaluated, name: string): unknown {
  const text = JSON.stringify(benchmarks, (key, value: unknown) => (/seconds$/i.test(key) ? undefined : value));
  return JSON.parse(text.replaceAll(`"${name}-`, '"'));
}

/** Its processes now; those of a service that is being started are not all there. */
function pidsOf(kind: Kind): number[] {
  const { supervisor, server, worker } = everturn.service() ?? {};
  const of = { command: [], worker: [worker], server: [server] };
  const pids = kind in of ? of[kind as keyof typeof of] : [supervisor, server, worker];
  return pids.flatMap((id) => (id ? [id.pid] : []));
}

describe(`${BENCHMARKS.length} benchmarks × ${MODELS} models`, () => {
  test(
    `pay for no answer twice under ${EACH * KINDS.length} kills of everybody, and end in the table of a calm evaluation`,
    { timeout: FULL ? 3_600_000 : 900_000 },
    async () => {
      const whole = BENCHMARKS.length * MODELS * QUERIES * SAMPLES * TURNS;
      const calm = await everturn.mustRun(...command('calm'));
      expect(asksOf('calm').filter(({ event }) => event === 'ask')).toHaveLength(whole);

      const random = randomOf('matrix');
      const owed = KINDS.flatMap((kind) => Array.from({ length: EACH }, () => kind));
      const blows: { readonly at: number; readonly kind: Kind }[] = [];
      let running: Running = everturn.start(...command('storm'));
      for (let n = 1; owed.length > 0; n++) {
        const [kind] = owed.splice(Math.floor(random() * owed.length), 1);
        const due = Math.floor((whole * n) / (EACH * KINDS.length + 2));
        const left = running;
        await until(
          `${due} turns are asked for`,
          () => {
            if (left.child.exitCode !== null) throw new Error(`the command ended early: ${left.output()}`);
            return new Set(asksOf('storm').map(({ key }) => key)).size >= due;
          },
          600_000,
        );
        blows.push({ at: Date.now(), kind: kind! });
        const pids = pidsOf(kind!);
        await Promise.all(pids.map(kill));
        if (kind === 'command' || kind === 'everything') {
          running.child.kill('SIGKILL');
          expect((await running.ended).signal).toBe('SIGKILL');
          running = everturn.start(...command('storm'));
        } else expect(pids.length).toBeGreaterThan(0);
      }
      const storm = await running.ended;
      expect(storm.code, storm.stderr).toBe(0);

      const again = paidAgain(asksOf('storm'), blows);
      const asked = asksOf('storm').filter(({ event }) => event === 'ask');
      const turns = new Set(asked.map(({ key }) => key)).size;
      console.log(JSON.stringify({ seed: SEED, blows: blows.map(({ kind }) => kind), turns, asked: asked.length }));
      expect(again).toEqual([]);
      expect(turns).toBe(whole);
      expect(asked.filter(({ known }) => known)).toEqual([]);
      expect(asked.length - whole).toBeLessThanOrEqual(blows.length * MODELS * AT_ONCE);
      expect(numbersOf(evaluated(storm.stdout), 'storm')).toEqual(numbersOf(evaluated(calm.stdout), 'calm'));
      for (const { run } of evaluated(storm.stdout).benchmarks.flatMap(({ runs }) => runs)) {
        const of = { rollouts: QUERIES * SAMPLES, samples: SAMPLES, turns: TURNS };
        const stormy = await checkRun(checkable(), { ...of, name: run });
        const quiet = await checkRun(checkable(), { ...of, name: run.replace('storm', 'calm') });
        expect([...stormy.problems, ...quiet.problems]).toEqual([]);
        expect(canonical(stormy.rollouts)).toBe(canonical(quiet.rollouts));
      }
      const calls = asksOf('storm').length;
      await everturn.mustRun(...command('storm'));
      expect(asksOf('storm')).toHaveLength(calls);
      failed = false;
    },
  );
});

const checkable = () => ({
  ...{ everturn, out: join(everturn.folder, 'runs') },
  model: { asks: () => models.flatMap((model) => model.asks()) },
});

/**
 * Turns that were asked for more often than kills explain. A turn is asked for after the end of the one before it, and once
 * more after each kill since then that may have taken its answer. A kill of the command takes none.
 */
function paidAgain(asks: readonly Ask[], blows: readonly { readonly at: number; readonly kind: Kind }[]): string[] {
  const times = new Map<string, number[]>();
  const answeredAt = new Map<string, number>();
  for (const { key, event, how, at } of asks) {
    if (event === 'ask') times.set(key, [...(times.get(key) ?? []), at]);
    else if (how === 'answered') answeredAt.set(key, Math.min(at, answeredAt.get(key) ?? Infinity));
  }
  return [...times].flatMap(([key, at]) => {
    const [rollout, turn] = [key.slice(0, key.lastIndexOf('/')), Number(key.slice(key.lastIndexOf('/') + 1))];
    const from = answeredAt.get(`${rollout}/${turn - 1}`) ?? 0;
    const to = Math.max(...at);
    const excused = blows.filter((blow) => blow.kind !== 'command' && blow.at >= from && blow.at <= to).length;
    return at.length > 1 + excused ? [`${key}: ${at.length} times, ${excused} kills`] : [];
  });
}

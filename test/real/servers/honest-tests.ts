// Many honest answers, by runs of every shape: none is refused, none that is asked again differs, and `check` finds nothing.
// HONEST_ANSWERS says how many are played over all shapes. A service of its own for each shape, so that its counts are.

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFleet } from '../../../records/run/fleet-status.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { openEverturn } from '../../support/everturn.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { until } from '../../support/until.ts';
import { otherWeights } from './other-weights.ts';

const ANSWERS = Number(process.env['HONEST_ANSWERS'] ?? 400);
const AT_ONCE = '32';
const SAMPLES = 8;

/** The model of a run, by the logprobs that its servers give. */
export interface Models {
  readonly raw: string;
  readonly other: string;
  readonly both: string;
  /** Of a run on `raw`. */
  readonly rawFlags: string;
}

interface Shape {
  readonly name: string;
  readonly on: keyof Models;
  readonly turns: number;
  readonly flags: string;
  /** Of all answers, in tenths. */
  readonly share: number;
  /** Weights are changed while it is played. */
  readonly changes?: boolean;
}

const OFTEN = '--recheck-every 5';
/** The other weights stop late: no context is to end a rollout early. */
const SHORT = '--max-new-tokens 200';
const SHAPES: readonly Shape[] = [
  { name: 'temperature 1', on: 'raw', turns: 3, flags: '', share: 2.3 },
  { name: 'greedy', on: 'raw', turns: 3, flags: '--temperature 0', share: 1 },
  { name: 'temperature 0.5, raw', on: 'raw', turns: 3, flags: `--temperature 0.5 ${OFTEN}`, share: 1 },
  { name: 'temperature 0.5, policy', on: 'other', turns: 3, flags: '--temperature 0.5', share: 1 },
  { name: 'cuts', on: 'raw', turns: 3, flags: `--top-p 0.9 --top-k 20 --min-p 0.02 ${OFTEN}`, share: 1 },
  { name: 'long', on: 'raw', turns: 1, flags: `--temperature 2 --max-new-tokens 1500 ${OFTEN}`, share: 0.2 },
  { name: 'many turns', on: 'both', turns: 8, flags: `--feedback delta ${OFTEN}`, share: 1.5 },
  { name: 'weights change', on: 'raw', turns: 4, flags: `--new-tokens-per-chunk 16 ${SHORT}`, share: 1, changes: true },
  { name: 'weights change, both', on: 'both', turns: 4, flags: `${SHORT} ${OFTEN}`, share: 1, changes: true },
];

/** A line of a data set. */
function problem(i: number): string {
  const [a, b] = [11 + (i % 83), 12 + ((i * 7) % 79)];
  return JSON.stringify({ id: `p${i}`, question: `What is ${a} + ${b}?`, answer: String(a + b) });
}

export function honestTests(models: () => Models, say: (line: string) => void): void {
  // Later than those of the other tests.
  let version = 10;
  const sum = { answers: 0, tokens: 0, compared: 0 };

  test.each(SHAPES)('honest answers raise no alarm: $name', async ({ on, turns, flags, share, changes = false }) => {
    const everturn = openEverturn();
    onTestFinished(() => everturn.close());
    const queries = Math.ceil((ANSWERS * share) / 10 / SAMPLES / turns);
    const data = join(everturn.folder, 'problems.jsonl');
    writeFileSync(data, Array.from({ length: queries }, (_, i) => problem(i)).join('\n'));
    const words = `--model ${models()[on]} --samples ${SAMPLES} --num-turns ${turns}`;
    const shape = `${words} --max-concurrent ${AT_ONCE} ${flags} ${on === 'raw' ? models().rawFlags : ''}`
      .split(' ')
      .filter((word) => word !== '');
    const running = everturn.start('run', data, '--name', 'honest', ...shape);
    const store = openFileStore(join(everturn.folder, 'runs'), 'honest');
    if (changes) {
      await until('some turns were played', async () => (await countOf(store)).answers >= 8, 240_000);
      for (const weights of [otherWeights(), TINY_FOLDER]) {
        const folder = join(everturn.folder, `step-${++version}`);
        cpSync(weights, folder, { recursive: true });
        const said = await everturn.run(
          'update-weights',
          'honest',
          '--from',
          folder,
          '--weight-version',
          `v${version}`,
        );
        expect(said.code, said.stderr).toBe(0);
      }
    }
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(0);
    // The last report of the servers is written as the worker ends.
    expect((await everturn.run('down')).code).toBe(0);
    const checked = await everturn.run('check', 'honest', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    const servers = await readFleet(store.folder, 0);
    const failures = servers.flatMap(({ failuresBy }) => Object.keys(failuresBy));
    expect(failures.filter((reason) => !(changes && reason === 'version-moved'))).toEqual([]);
    const { answers, tokens, longest } = await countOf(store);
    const compared = servers.reduce((all, { rechecks }) => all + rechecks!.answers, 0);
    sum.answers += answers;
    sum.tokens += tokens;
    sum.compared += compared;
    say(`honest: ${answers} answers of ${tokens} tokens, the longest ${longest}; ${compared} asked again, all agree`);
    say(`honest so far: ${sum.answers} answers, ${sum.tokens} tokens, ${sum.compared} asked again`);
    expect(answers).toBeGreaterThanOrEqual(queries * SAMPLES * turns);
  });
}

async function countOf(store: ReturnType<typeof openFileStore>) {
  const count = { answers: 0, tokens: 0, longest: 0 };
  for await (const { turns } of readTrajectories(store)) {
    for (const { record } of turns) {
      count.answers++;
      count.tokens += record.outputIds.length;
      count.longest = Math.max(count.longest, record.outputIds.length);
    }
  }
  return count;
}

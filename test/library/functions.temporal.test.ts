// A program whose functions are a run's model, environment and tools: killed and started again, also with another home, it goes on
// where it was; a second one is refused; and what the run holds is what a calm one would hold.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRun } from '../../library/index.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';

const INSTALLATION = join(import.meta.dirname, '../..');
const SAMPLES = 4;
const ROWS = [1, 2, 3, 4].map((n) => ({ id: `q${n}`, question: `What is ${n} + ${n}?`, answer: String(2 * n) }));

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
  everturn.write('sums.jsonl', ROWS);
});
afterAll(() => everturn.close());

/** `elsewhere`: with a home of its own, and the same server. */
function program(elsewhere = false) {
  const file = join(import.meta.dirname, 'functions-program.mjs');
  const other = elsewhere ? [join(everturn.folder, 'other'), everturn.service()!.address!] : [];
  const { child, ended } = everturn.startProgram(file, INSTALLATION, everturn.folder, String(SAMPLES), ...other);
  const said = ended.then(({ stdout, stderr }) => (stdout === '' ? stderr : (JSON.parse(stdout) as unknown)));
  return { child, said };
}

interface Called {
  readonly pid: number;
  readonly what: 'model' | 'judge' | 'tool';
  readonly of: string;
}
function calls(): Called[] {
  const file = join(everturn.folder, 'calls.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Called);
}

describe('a program with functions of its own', () => {
  test(
    'plays on after three kills, is refused a second time, and plays no finished turn again',
    { timeout: 240_000 },
    async () => {
      for (const most of [4, 14]) {
        const { child, said } = program();
        await until(
          'calls',
          () => calls().filter(({ pid, what }) => pid === child.pid && what === 'model').length >= most / 2,
        );
        child.kill('SIGKILL');
        await said;
      }
      // Its model gives no answer before the second one is refused.
      everturn.write('hold', '');
      const last = program();
      await until('its calls', () => calls().some(({ pid }) => pid === last.child.pid));
      for (const elsewhere of [false, true]) {
        const message = expect.stringContaining(`process ${last.child.pid}`);
        expect(await program(elsewhere).said).toMatchObject({ reason: 'still-played', message });
      }
      last.child.kill('SIGKILL');
      await last.said;
      const run = await openRun('sums', { out: join(everturn.folder, 'runs'), home: join(everturn.folder, 'home') });
      const told = new AbortController();
      const waited = run.result({ onWait: (why) => told.abort(new Error(why)), signal: told.signal });
      await expect(waited).rejects.toThrow('Start the program again that made the run');
      rmSync(join(everturn.folder, 'hold'));
      expect(await program(true).said).toEqual({
        found: 'attached',
        outcomes: expect.objectContaining({ complete: 16 }),
      });

      // Up to two calls were in flight at each kill: nothing else is asked again.
      const asked = calls()
        .filter(({ what }) => what === 'model')
        .map(({ of }) => of);
      expect(new Set(asked).size).toBe(2 * ROWS.length * SAMPLES);
      expect(asked.length - new Set(asked).size).toBeLessThanOrEqual(3 * 2);
      expect(await run.check()).toMatchObject({ breaches: 0 });
      for await (const rollout of run.rollouts()) expect(rollout).toMatchObject({ outcome: 'complete' });
      // Run again, the program finds it ended, and calls nothing.
      const before = calls().length;
      expect(await program().said).toMatchObject({ found: 'ended' });
      expect(calls()).toHaveLength(before);
    },
  );
});

// A worker that is a process of its own, killed by SIGKILL in each part of a rollout's last step, alone and beside another
// one that ends the same rollouts: whatever it left is a whole run, nothing is there twice, and the next worker does the
// rest. END_KILLS=50 kills in each part fifty times; else three times.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRun } from '../../records/check/check.ts';
import type { Breach } from '../../records/store.ts';
import { playGoodRun } from './check/good-run.ts';
import { compiledRoom } from '../support/compiled.ts';
import { again, bytesIn, rolloutsIn, seenIn } from './ended-rig.ts';
import { RUN } from './play.ts';

const PARTS = ['reading', 'appending', 'syncing', 'indexing', 'removing'] as const;
const SIDES = ['before', 'within', 'after'];
const KILLS = Number(process.env['END_KILLS'] ?? 3);
const root = mkdtempSync(join(tmpdir(), 'everturn-end-kills-'));
afterAll(() => rmSync(root, { recursive: true }));

const worker = join(root, 'worker.mjs');
const room = (file: string) => JSON.stringify(pathToFileURL(join(compiledRoom('records'), file)).href);
const KILLER = pathToFileURL(join(import.meta.dirname, 'end-killer.mjs')).href;

async function endIn(out: string, kill?: string) {
  const env = { ...process.env, ...(kill === undefined ? {} : { KILL: kill }) };
  const child = spawn(process.execPath, ['--import', KILLER, worker, out], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
  const said = await text(child.stdout);
  return { said, signal: await ended };
}

function copy(): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  return out;
}

let seen: unknown;
let calls: Record<(typeof PARTS)[number], number>;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  seen = await seenIn(again(join(root, 'good')));
  // As Temporal does it: the last step of each rollout, again where a worker was killed, and then the result.
  writeFileSync(
    worker,
    `import { openFileStore } from ${room('file-store.js')};
     const store = openFileStore(process.argv[2], ${JSON.stringify(RUN)});
     const ids = [];
     for await (const id of store.listRollouts()) ids.push(id);
     for (const id of ids) await store.putEnd(id, (await store.getEnd(id)).record);
     await store.putResult((await store.getResult()).record);`,
  );
  calls = JSON.parse((await endIn(copy())).said) as typeof calls;
});

async function isWhole(out: string, at: string): Promise<void> {
  expect(rolloutsIn(await seenIn(again(out))), at).toEqual(rolloutsIn(seen));
  expect(await breachesOf(out), at).toEqual([]);
}

async function isEnded(out: string, at: string): Promise<void> {
  expect(await seenIn(again(out)), at).toEqual(seen);
  expect(await breachesOf(out), at).toEqual([]);
  const left = Object.keys(bytesIn(join(out, RUN))).filter((path) => path.startsWith('rollouts/'));
  expect(left, at).toEqual([]);
  const temporary = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp'));
  expect(temporary, at).toEqual([]);
}

describe('a worker that is killed in the last step of a rollout', () => {
  test.each(PARTS)(
    'while %s leaves a whole run, and the next one ends it',
    async (part) => {
      expect(calls[part]).toBeGreaterThan(5);
      for (let kill = 0; kill < KILLS; kill++) {
        const out = copy();
        const at = `${part} ${Math.floor(Math.random() * calls[part])} ${SIDES[kill % SIDES.length]}`;
        expect((await endIn(out, at)).signal, at).toBe('SIGKILL');
        await isWhole(out, at);
        expect((await endIn(out)).signal, at).toBeNull();
        await isEnded(out, at);
        rmSync(out, { recursive: true });
      }
    },
    3_600_000,
  );

  test('beside another one that ends the same rollouts loses nothing, and leaves nothing twice', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const out = copy();
      const part = PARTS[kill % PARTS.length]!;
      const at = `${part} ${Math.floor((Math.random() * calls[part]) / 3)} after`;
      const [other] = await Promise.all([endIn(out), endIn(out, at)]);
      expect(other.signal, at).toBeNull();
      await isWhole(out, at);
      expect((await endIn(out)).signal, at).toBeNull();
      await isEnded(out, at);
      rmSync(out, { recursive: true });
    }
  }, 3_600_000);
});

async function breachesOf(out: string): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(again(out), (breach) => breaches.push(breach));
  return breaches;
}

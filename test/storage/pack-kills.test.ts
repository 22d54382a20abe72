// A packer that is a process of its own, killed by SIGKILL in each of its six steps: whatever it left is a whole run, and
// the next packer completes it. PACK_KILLS=20 kills each step twenty times; else twice.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRun } from '../../proof/check.ts';
import type { Breach } from '../../storage/store.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { compiledRoom } from '../support/compiled.ts';
import { again, bytesIn, rolloutsIn, seenIn } from './pack-rig.ts';
import { RUN } from './play.ts';

const STEPS = ['choosing', 'writing', 'naming', 'readingBack', 'publishing', 'removing'] as const;
const KILLS = Number(process.env['PACK_KILLS'] ?? 2);
const root = mkdtempSync(join(tmpdir(), 'everturn-pack-kills-'));
afterAll(() => rmSync(root, { recursive: true }));

const packer = join(root, 'packer.mjs');
const room = (file: string) => JSON.stringify(pathToFileURL(join(compiledRoom('storage'), file)).href);
const KILLER = pathToFileURL(join(import.meta.dirname, 'pack-killer.mjs')).href;

async function pack(out: string, kill?: string) {
  const env = { ...process.env, ...(kill === undefined ? {} : { KILL: kill }) };
  const child = spawn(process.execPath, ['--import', KILLER, packer, out], {
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
let calls: Record<(typeof STEPS)[number], number>;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  seen = await seenIn(again(join(root, 'good')));
  writeFileSync(
    packer,
    `import { openFileStore } from ${room('files.js')};
     import { packRun } from ${room('pack/pack.js')};
     await packRun(openFileStore(process.argv[2], ${JSON.stringify(RUN)}), { minAgeMs: 0, rolloutsPerPack: 4 });`,
  );
  calls = JSON.parse((await pack(copy())).said) as typeof calls;
});

describe('a packer that is killed', () => {
  test.each(STEPS)(
    'while %s leaves a whole run, which the next one packs',
    async (step) => {
      expect(calls[step]).toBeGreaterThan(2);
      for (let kill = 0; kill < KILLS; kill++) {
        const out = copy();
        const place = Math.floor(Math.random() * calls[step]);
        const at = `${step} ${place} ${kill % 2 === 0 ? 'before' : 'after'}`;
        expect((await pack(out, at)).signal, at).toBe('SIGKILL');
        expect(rolloutsIn(await seenIn(again(out))), at).toEqual(rolloutsIn(seen));
        expect(await breachesOf(out), at).toEqual([]);
        expect((await pack(out)).signal, at).toBeNull();
        expect(await seenIn(again(out)), at).toEqual(seen);
        expect(await breachesOf(out), at).toEqual([]);
        const left = Object.keys(bytesIn(join(out, RUN))).filter((path) => /^(rollouts|answers)\//.test(path));
        expect(left, at).toEqual([]);
        const temporary = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) =>
          path.endsWith('.tmp'),
        );
        expect(temporary, at).toEqual([]);
        rmSync(out, { recursive: true });
      }
    },
    3_600_000,
  );
});

async function breachesOf(out: string): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(again(out), (breach) => breaches.push(breach));
  return breaches;
}

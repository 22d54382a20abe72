// Several processes write the same records at once, and some are killed while they do.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { compiledRoom } from '../support/compiled.ts';
import { RUN, turnRecord } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-processes-'));
afterAll(() => rmSync(root, { recursive: true }));

const TURNS = 60;
const writer = join(root, 'writer.mjs');
writeFileSync(
  writer,
  `import { openFileStore } from ${JSON.stringify(pathToFileURL(join(compiledRoom('records'), 'file-store.js')).href)};
   const [out, who, record] = process.argv.slice(2);
   const store = openFileStore(out, ${JSON.stringify(RUN)});
   for (let turn = 1; turn <= ${TURNS}; turn++) {
     const mine = { ...JSON.parse(record), turn, server: who, answer: who.repeat(50_000) };
     const { record: kept, hash } = await store.putTurn({ query: 'q', sample: 0, attempt: 1 }, mine);
     console.log(turn, kept.server, kept.answer.length, hash);
   }`,
);
const start = (out: string, who: string): ChildProcess =>
  spawn(process.execPath, [writer, out, who, JSON.stringify(turnRecord(1, 'What?'))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

describe('several processes with one folder', () => {
  test('of racing processes one wins each record, and all of them say the same', async () => {
    const out = join(root, 'race');
    const said = await Promise.all(['a', 'b', 'c'].map((who) => text(start(out, who).stdout!)));
    expect(said[0]!.trim().split('\n')).toHaveLength(TURNS);
    expect(said[1]).toBe(said[0]);
    expect(said[2]).toBe(said[0]);
    expect(temporaries(out)).toEqual([]);
  });

  test('a writer killed at any moment leaves whole records or none', async () => {
    const out = join(root, 'kills');
    const store = openFileStore(out, RUN);
    let killed = 0;
    for (let attempt = 0; attempt < 10; attempt++) {
      const child = start(out, String.fromCharCode(97 + attempt));
      // It dies in the midst of the record after one that it reported, at whatever point it has reached.
      for (let lines = 0; lines <= attempt % 3; lines++)
        await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
      if (child.exitCode === null && child.kill('SIGKILL')) killed++;
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    expect(killed).toBeGreaterThan(0);
    const id = { run: RUN, query: 'q', sample: 0, attempt: 1 };
    let last = 0;
    for (let turn = 1; turn <= TURNS; turn++) {
      const stored = await store.getTurn(id, turn);
      if (!stored) continue;
      expect(last, 'no turn is skipped').toBe(turn - 1);
      expect(stored.record.answer).toBe(stored.record.server!.repeat(50_000));
      last = turn;
    }
    expect(last).toBeGreaterThan(0);
    await text(start(out, 'z').stdout!);
    expect((await store.getTurn(id, TURNS))!.record.turn).toBe(TURNS);
  });
});

function temporaries(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));
}

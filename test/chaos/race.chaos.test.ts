// The promise: of several processes that write the same turn at once, one wins, all are told the winner's record, and
// no record is ever broken or doubled, whatever its size. Minutes in full, a few turns else.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { rolloutFolder } from '../../records/format/layout.ts';
import { openFileStore } from '../../records/file-store.ts';
import { compiledRoom } from '../support/compiled.ts';
import { RUN, turnRecord } from '../records/play.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL } from './size.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

const WRITERS = 8;
const TURNS = 30;
const MINUTES = 5;
/** Characters of an answer. */
const SIZES = { least: 1000, most: 4_000_000 };

const writer = join(root, 'writer.mjs');
writeFileSync(
  writer,
  `import { createInterface } from 'node:readline';
   import { openFileStore } from ${JSON.stringify(pathToFileURL(join(compiledRoom('records'), 'file-store.js')).href)};
   const [out, who, record] = process.argv.slice(2);
   const store = openFileStore(out, ${JSON.stringify(RUN)});
   for await (const line of createInterface({ input: process.stdin })) {
     const [query, size] = JSON.parse(line);
     const mine = { ...JSON.parse(record), server: who, answer: who.repeat(size) };
     const { record: kept, hash, created } = await store.put('turn', { query, sample: 0, attempt: 1 }, mine);
     const pure = kept.answer === kept.server.repeat(size);
     console.log(JSON.stringify({ created, server: kept.server, pure, hash }));
   }`,
);

interface Said {
  readonly created: boolean;
  readonly server: string;
  readonly pure: boolean;
  readonly hash: string;
}

function startWriter(out: string, who: string) {
  const child = spawn(process.execPath, [writer, out, who, JSON.stringify(turnRecord(1, 'What?'))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async write(query: string, size: number): Promise<Said> {
      child.stdin.write(`${JSON.stringify([query, size])}\n`);
      return JSON.parse((await lines.next()).value as string) as Said;
    },
    async end() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

describe('processes that write the same turn', () => {
  test(
    `break and double none: ${WRITERS} of them, ${FULL ? `for ${MINUTES} min` : `${TURNS} turns`}`,
    { timeout: MINUTES * 60_000 + 60_000 },
    async () => {
      const out = join(root, 'out');
      const writers = Array.from({ length: WRITERS }, (_, i) => startWriter(out, String.fromCharCode(97 + i)));
      const random = randomOf('sizes');
      const winners = new Map<string, number>();
      let turns = 0;
      for (const end = Date.now() + MINUTES * 60_000; FULL ? Date.now() < end : turns < TURNS; turns++) {
        const query = `q${turns}`;
        const size = Math.round(SIZES.least * (SIZES.most / SIZES.least) ** random());
        const said = await Promise.all(writers.map((each) => each.write(query, size)));
        const of = `turn of ${query}, ${size} characters, seed ${SEED}`;
        expect(
          said.filter(({ created }) => created),
          of,
        ).toHaveLength(1);
        expect(new Set(said.map(({ hash }) => hash)).size, of).toBe(1);
        expect(
          said.every(({ pure }) => pure),
          of,
        ).toBe(true);
        const id = { run: RUN, query, sample: 0, attempt: 1 };
        expect((await openFileStore(out, RUN).get('turn', id, 1))!.hash, of).toBe(said[0]!.hash);
        const folder = join(out, RUN, rolloutFolder(id));
        expect(readdirSync(folder), of).toEqual(['turn-001.json']);
        rmSync(folder, { recursive: true });
        winners.set(said[0]!.server, (winners.get(said[0]!.server) ?? 0) + 1);
      }
      await Promise.all(writers.map((each) => each.end()));
      console.log(JSON.stringify({ seed: SEED, turns, writes: turns * WRITERS, winners: Object.fromEntries(winners) }));
      expect(turns).toBeGreaterThan(0);
      // A race that always the same one wins is none.
      expect(winners.size).toBeGreaterThan(1);
    },
  );
});

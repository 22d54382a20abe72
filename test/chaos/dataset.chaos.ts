// The promise: whatever a line of a data set holds, reading it never crashes and never hangs; a line that is refused is
// named by its file, its line and, where it is JSON, its field; and the lines beside it come out as they are. Lines are
// mutated by a seed; a test's own bytes never hold a line feed, so that each stays one line.

import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { surveyDataset } from '../../run/survey.ts';
import type { Row } from '../../formats/datasets/dataset.ts';
import { openDataset } from '../../formats/datasets/index.ts';
import { MUTATIONS } from './mutated-lines.ts';
import { commandOf, randomOf } from './seed.ts';
import { sized } from './size.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-rows-'));
afterAll(() => rmSync(root, { recursive: true }));

const LINES = sized(10_000);
const PER_FILE = 50;
const LINE_MS = 1000;
const goodLine = (n: number) => JSON.stringify({ id: `good-${n}`, question: `What is ${n}?`, answer: String(n) });

describe('a mutated data set', () => {
  test(
    `crashes nothing: each of ${LINES} lines is named, and those beside them are whole`,
    { timeout: 1_800_000 },
    async () => {
      console.log(`Repeat: ${commandOf(import.meta.filename)}`);
      const random = randomOf('lines');
      const told = { accepted: 0, refused: 0, slowestMs: 0, kinds: 0 };
      const kinds = Object.entries(MUTATIONS);
      const seen = new Set<string>();
      for (let from = 0; from < LINES; from += PER_FILE) {
        const file = join(root, `${from}.jsonl`);
        const names: string[] = [];
        const parts: Buffer[] = [];
        for (let n = from; n < from + PER_FILE; n++) {
          // Each kind in turn, so that none is left out.
          const [name, mutate] = kinds[n % kinds.length]!;
          names.push(name);
          seen.add(name);
          const line = Buffer.from(mutate(n, random));
          expect(line.includes(10), name).toBe(false);
          parts.push(Buffer.from(`${goodLine(n)}\n`), line, Buffer.from('\n'));
        }
        writeFileSync(file, Buffer.concat(parts));
        const { rows, slowestMs } = await read(file);
        told.slowestMs = Math.max(told.slowestMs, slowestMs);
        for (let i = 0; i < PER_FILE; i++) {
          const n = from + i;
          const good = rows.get(2 * i + 1);
          expect(good, `the good line before ${names[i]}`).toMatchObject({ ok: true, query: { queryId: `good-${n}` } });
          const row = rows.get(2 * i + 2);
          if (row?.ok) told.accepted++;
          else if (row) {
            told.refused++;
            const { bad } = row;
            expect(bad, names[i]).toMatchObject({ file, line: 2 * i + 2 });
            expect(bad.problem, names[i]).not.toBe('');
            expect(bad.fix, names[i]).not.toBe('');
            expect(
              [...bad.problem].every((char) => char >= ' ' && char !== '\u007f'),
              names[i],
            ).toBe(true);
            if (isObjectJson(parts[3 * i + 1]!)) expect(bad.field, `${names[i]}: ${bad.problem}`).not.toBeNull();
          }
        }
        // What would be played can be written down.
        const { accepted, refused } = await surveyDataset({ dataset: file, limit: null, shuffleSeed: null });
        expect(accepted + refused).toBe(rows.size);
        rmSync(file);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      told.kinds = seen.size;
      console.log(JSON.stringify({ lines: LINES, ...told }));
      expect(seen.size).toBe(kinds.length);
      expect(told.slowestMs).toBeLessThan(LINE_MS);
    },
  );

  test('a line of 100 MB is refused by its number, and costs neither memory nor a second', async () => {
    const file = join(root, 'long.jsonl');
    const out = createWriteStream(file);
    out.write(`${goodLine(0)}\n{"id":"long","question":"`);
    const block = 'x'.repeat(1 << 20);
    for (let i = 0; i < 100; i++) if (!out.write(block)) await once(out, 'drain');
    out.end(`"}\n${goodLine(1)}\n`);
    await once(out, 'close');
    const before = process.memoryUsage().rss;
    const { rows, slowestMs } = await read(file);
    const grownMiB = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
    console.log(JSON.stringify({ slowestMs, grownMiB }));
    expect([...rows.values()].map((row) => row.ok)).toEqual([true, false, true]);
    expect(rows.get(2)).toMatchObject({ bad: { file, line: 2, field: null, problem: expect.stringContaining('MiB') } });
    expect(slowestMs).toBeLessThan(LINE_MS);
  });
});

/** By line number; `slowestMs` is the longest wait for one of them. */
async function read(file: string): Promise<{ rows: Map<number, Row>; slowestMs: number }> {
  const rows = new Map<number, Row>();
  let slowestMs = 0;
  let since = performance.now();
  for await (const row of openDataset(file).rows()) {
    slowestMs = Math.max(slowestMs, performance.now() - since);
    rows.set(row.ok ? row.line : row.bad.line, row);
    since = performance.now();
  }
  return { rows, slowestMs: Math.round(slowestMs) };
}

function isObjectJson(line: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(line));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

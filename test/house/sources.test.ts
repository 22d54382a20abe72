// What can be counted of the house's style.

import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, isOfTests, ROOMS, ROOT, sources } from './tree.ts';

const MAX_LINES = 300;
const MAX_HEADER_LINES = 6;

function linesOf(path: string): string[] {
  return readFileSync(join(ROOT, path), 'utf8').trimEnd().split('\n');
}

describe('the sources', () => {
  test(`no source file is longer than ${MAX_LINES} lines`, () => {
    const long = sources().flatMap((path) => {
      const { length } = linesOf(path);
      return length > MAX_LINES ? [`${path}: ${length}`] : [];
    });
    expect(long, 'a second concept in a file belongs into a file of its own').toEqual([]);
  });

  test(`every source file opens with one to ${MAX_HEADER_LINES} lines that say what it is`, () => {
    const ours = sources().filter(
      (path) => ROOMS.some((room) => path.startsWith(`${room}/`)) || /^[\w-]+\.\w+$/.test(path),
    );
    const wrong = ours.flatMap((path) => {
      const lines = linesOf(path);
      if (lines[0]!.startsWith('#!')) lines.shift();
      const first = lines.findIndex((line) => !line.startsWith('//'));
      return first >= 1 && first <= MAX_HEADER_LINES ? [] : [`${path}: ${first} lines`];
    });
    expect(ours.length).toBeGreaterThan(100);
    expect(wrong, 'lines of // before the first import: purpose, guarantees, gaps').toEqual([]);
  });

  test('every test stands in a describe, so that its line says its subject', () => {
    const tests = sources().filter((path) => isOfTests(path) && /\.(?:test|chaos)\.ts$/.test(path));
    const alone = tests.flatMap((path) =>
      linesOf(path).flatMap((line, i) => (/^(?:test|it)\b[.(]/.test(line) ? [`${path}:${i + 1}`] : [])),
    );
    expect(tests.length).toBeGreaterThan(100);
    expect(alone).toEqual([]);
  });

  test('folders are at most two deep, three in a room above 3,000 lines', () => {
    const rooms = [...new Set(sources().map((path) => path.split('/', 1)[0]!))];
    const deep = rooms.flatMap((room) => {
      const paths = sources().filter((path) => path.startsWith(`${room}/`));
      const most = paths.reduce((sum, path) => sum + linesOf(path).length, 0) > 3_000 ? 3 : 2;
      return paths.filter((path) => path.split('/').length > most + 1);
    });
    expect(deep).toEqual([]);
  });

  test('no file names a folder of somebody’s machine', () => {
    const binary = new Set(['.onnx', '.gz', '.png', '.npz', '.parquet', '.db']);
    const texts = filesUnder().filter((path) => !binary.has(extname(path)) && path !== 'test/house/sources.test.ts');
    const named = texts.flatMap((path) =>
      machinePaths(readFileSync(join(ROOT, path), 'utf8')).map((m) => `${path}: ${m}`),
    );
    expect(named).toEqual([]);
  });
});

/** Absolute paths below the places where people and build machines keep their files. */
function machinePaths(text: string): string[] {
  return text.match(/(?<![\w.~-])\/(?:home|Users|root|work|builds?|workspace)\/[\w.-]+/g) ?? [];
}

// Words and tables.

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { shellQuoted } from '../../library/command-line.ts';
import { ago, clock, paintFor, percent, plural, table } from '../../cli/format.ts';

describe('printed text', () => {
  test('a shell reads back the very text that was quoted', () => {
    const texts = ['a b', "it's", '$HOME', '`id`', 'a"b', '\\', '*', 'a;b', '--x', 'naïve'];
    const read = execFileSync('sh', ['-c', `printf '%s\\n' ${texts.map(shellQuoted).join(' ')}`], { encoding: 'utf8' });
    expect(read.trimEnd().split('\n')).toEqual(texts);
  });

  test('numbers read as people write them', () => {
    expect([plural(1, 'turn'), plural(0, 'turn'), plural(1234, 'query', 'queries')]).toEqual([
      '1 turn',
      '0 turns',
      '1,234 queries',
    ]);
    expect([percent(1, 3), percent(0, 0), percent(1, 1, 0)]).toEqual(['33.3 %', '–', '100 %']);
    expect([clock(7_000), clock(723_000), clock(10_807_000)]).toEqual(['0:07', '12:03', '3:00:07']);
    expect([ago(3_000), ago(180_000), ago(7_200_000), ago(864_000_000)]).toEqual([
      '3 s ago',
      '3 min ago',
      '2 h ago',
      '10 days ago',
    ]);
  });

  test('columns line up, also where cells are not ASCII', () => {
    const text = table(
      [
        ['ß…', 1],
        ['abcdef', 22],
      ] as const,
      [
        ['name', ([name]) => name],
        ['>n', ([, n]) => String(n)],
      ],
      (_, t) => t,
    );
    expect(text.split('\n')).toEqual(['name     n', 'ß…       1', 'abcdef  22']);
  });

  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with %o and a terminal (%s) colour is %s', (env, isTTY, coloured) => {
    const painted = paintFor({ write: () => true, isTTY }, env)('red', 'x');
    expect(painted !== 'x').toBe(coloured);
  });
});

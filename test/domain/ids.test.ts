// Names: no two the same, none that leaves its folder, all short.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRunName, rolloutWorkflowId, safeName, turnSeed } from '../../domain/names/ids.ts';
import { ANY_CHAR } from './some.ts';

/** Ids that try: separators, dots, reserved names, case, marks that other names are made of, long and broken text. */
const SOME_ID = fc.oneof(
  fc.string(),
  fc.string({ unit: ANY_CHAR }),
  fc.string({ unit: fc.constantFrom('a', 'A', '.', '/', '\\', '~', '-', '@', ' ', '0', '\u0000', 'ı', 'İ', '\ud800') }),
  fc.constantFrom(
    '..',
    '.',
    '',
    'con',
    'NUL',
    'aux.txt',
    'com1',
    'lpt9.log',
    '../../etc/passwd',
    'a/0/retry-2',
    'retry-2',
  ),
  fc.string({ minLength: 100, maxLength: 400 }),
);

/** Two ids that are near each other, as often as not. */
const TWO_IDS = fc.oneof(
  fc.tuple(SOME_ID, SOME_ID),
  SOME_ID.map((id) => [id, id.toUpperCase()] as [string, string]),
  SOME_ID.map((id) => [id, id.normalize('NFKD')] as [string, string]),
  SOME_ID.map((id) => [id, safeName(id)] as [string, string]),
  SOME_ID.map((id) => [id, `${id}.`] as [string, string]),
);

describe('ids', () => {
  test('two ids never share a name, also where a file system folds case or forms', () => {
    const folded = (id: string) => safeName(id).toLowerCase().normalize('NFKC');
    fc.assert(
      fc.property(TWO_IDS, ([a, b]) => {
        if (a !== b) expect(folded(a)).not.toBe(folded(b));
        else expect(safeName(a)).toBe(safeName(b));
      }),
      { numRuns: 1000 },
    );
  });

  test('a name is one plain path segment of at most 100 bytes, whatever the id', () => {
    fc.assert(
      fc.property(SOME_ID, (id) => {
        const name = safeName(id);
        expect(name).toMatch(/^[a-z0-9~][a-z0-9._~-]*$/);
        expect(name).not.toMatch(/^\.|\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(100);
      }),
      { numRuns: 1000 },
    );
  });

  test('a plain id stands as its own name, and any other stays readable', () => {
    expect(safeName('gsm8k-0017')).toBe('gsm8k-0017');
    expect(safeName('Algebra/Level 5: #3')).toMatch(/^algebra-level-5-3~[0-9a-f]{32}$/);
    expect(safeName('../../etc/passwd')).toMatch(/^etc-passwd~[0-9a-f]{32}$/);
    expect(safeName('问题')).toMatch(/^~[0-9a-f]{32}$/);
  });

  test('two rollouts never share a workflow id', () => {
    const some = fc.record({
      run: fc.constantFrom('run', 'run-2', 'run.2'),
      query: SOME_ID,
      sample: fc.nat(12),
      attempt: fc.integer({ min: 1, max: 12 }),
    });
    const near = fc
      .tuple(some, fc.nat(12), fc.integer({ min: 1, max: 3 }))
      .chain(([a, n, attempt]) =>
        fc.constantFrom(
          [a, { ...a, query: `${a.query}/${n}` }] as const,
          [a, { ...a, query: `${a.query}/${a.sample}/retry-${attempt}`, attempt }] as const,
          [a, { ...a, query: safeName(a.query) }] as const,
          [a, { ...a, attempt }] as const,
          [a, { ...a, sample: n }] as const,
        ),
      );
    fc.assert(
      fc.property(fc.oneof(fc.tuple(some, some), near), ([a, b]) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(rolloutWorkflowId(a) === rolloutWorkflowId(b)).toBe(same);
      }),
      { numRuns: 1000 },
    );
  });

  test('a workflow id reads as run, query and sample, and a retry says so', () => {
    const id = { run: 'night', query: 'gsm8k/17', sample: 2, attempt: 1 };
    expect(rolloutWorkflowId(id)).toBe('night/gsm8k/17/2');
    expect(rolloutWorkflowId({ ...id, attempt: 3 })).toBe('night/gsm8k/17/2/retry-3');
  });

  test('a workflow id is at most 1000 bytes and holds no control characters', () => {
    fc.assert(
      fc.property(SOME_ID, (query) => {
        const id = rolloutWorkflowId({ run: 'r'.repeat(100), query, sample: 999, attempt: 99 });
        expect(Buffer.byteLength(id)).toBeLessThanOrEqual(1000);
        expect(id).not.toMatch(/[\p{C}\p{Z}]/u);
      }),
    );
  });

  test.each(['a', 'Run-7', '2026-11-21.night_3', 'x'.repeat(100)])('%s can name a run', (name) => {
    expect(isRunName(name)).toBe(true);
  });

  test.each(['', '.', '..', 'a/b', 'a\\b', '-a', 'a.', 'a..b', 'CON', 'nul.txt', 'a b', 'ä', 'a\n', 'x'.repeat(101)])(
    '%j cannot name a run',
    (name) => {
      expect(isRunName(name)).toBe(false);
    },
  );

  test('each turn draws from a stream of its own, the same one every time', () => {
    const streams = new Set<number>();
    for (const seed of [0, 1, 2 ** 52])
      for (const query of ['a', 'b', '1'])
        for (let sample = 0; sample < 3; sample++)
          for (let turn = 1; turn <= 5; turn++) streams.add(turnSeed(seed, query, sample, turn));
    expect(streams.size).toBe(3 * 3 * 3 * 5);
    for (const stream of streams) expect(Number.isSafeInteger(stream) && stream >= 0 && stream < 2 ** 52).toBe(true);
    // Fixed for ever: a run that is played again must draw the same.
    const digest = createHash('sha256').update('[7,"q",0,1]').digest('hex');
    expect(turnSeed(7, 'q', 0, 1)).toBe(Number.parseInt(digest.slice(0, 13), 16));
  });
});

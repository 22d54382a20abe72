// The pure parts of the viewer: its filter against an independent reading, addresses, tokens as cells.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inParts } from '../../viewer/in-batches.ts';
import { parseFilter, sorted } from '../../viewer/model/filter.ts';
import { hasFailed, headNumbers, summaryInParts } from '../../viewer/model/summary.ts';
import type { Row } from '../../viewer/model/row.ts';
import { surpriseStep, tokenStats } from '../../viewer/model/token-cells.ts';
import { bytes, inText, spelled } from '../../viewer/model/visible-bytes.ts';
import { hrefOf, parseRoute, type Route } from '../../viewer/page/route.ts';
import { tokenSpan } from '../../viewer/token-message.ts';
import { ANY_CHAR } from '../domain/some.ts';

const text = fc.string({ unit: ANY_CHAR, maxLength: 30 });
const value = fc.constantFrom(0 as const, 1 as const, null);
const someRow: fc.Arbitrary<Row> = fc
  .record({
    index: fc.option(fc.nat(5), { nil: null }),
    query: fc.constantFrom('a1', 'a2', 'B 3', 'x:y'),
    categories: fc.constantFrom(undefined, { subject: 'Number Theory', level: '3' }, { category: 'math' }),
    title: fc.constantFrom('What is 2 + 2?', 'Carry the one: 19 + 3'),
    sample: fc.nat(3),
    attempt: fc.integer({ min: 1, max: 2 }),
    state: fc.constantFrom('complete' as const, 'failed' as const, 'open' as const, 'undecided' as const),
    success: fc.array(value, { maxLength: 5 }),
    reward: fc.option(fc.integer({ min: -3, max: 3 }), { nil: null }),
    tokens: fc.array(fc.option(fc.nat(3000), { nil: null, freq: 9 }), { maxLength: 5 }),
  })
  .map(({ tokens, categories, ...row }) => ({
    ...{ ...row, ...(categories && { categories }) },
    stop: row.state === 'open' ? null : 'max-turns',
    reason: row.state === 'failed' ? 'server-timeout' : null,
    endedAt: row.state === 'open' ? null : 5,
    turns: {
      tokens,
      context: tokens.map(() => 5),
      ms: tokens.map((n) => (n ?? 0) * 10),
      finish: tokens.map((n) => (n! > 2000 ? 'l' : 's')).join(''),
      reasons: tokens.map(() => 'equal'),
      extracted: null,
      server: null,
      versions: [0, 1] as const,
    },
  }));
const totalOf = ({ turns: { tokens } }: Row): number | null =>
  tokens.includes(null) ? null : tokens.reduce<number>((sum, n) => sum + n!, 0);
const someRows = fc.array(someRow, { maxLength: 40 });

describe('the filter', () => {
  test('holds exactly where its parts hold', () => {
    const parts: readonly (readonly [string, (row: Row) => boolean])[] = [
      ['carry', ({ title }) => title.startsWith('Carry')],
      ['"the one"', ({ title }) => title.includes('the one')],
      ['"x:y"', ({ query }) => query === 'x:y'],
      ['outcome:failed', ({ state }) => state === 'failed'],
      ['-outcome:complete', ({ state }) => state !== 'complete'],
      ['reason:server-timeout', ({ reason }) => reason !== null],
      ['category:"number theory"', ({ categories }) => categories?.['level'] === '3'],
      ['-category:MATH', ({ categories }) => categories?.['category'] !== 'math'],
      ['tokens>2000', (row) => (totalOf(row) ?? 0) > 2000],
      ['seconds<=5', ({ turns }) => turns.ms.reduce((a, b) => a + b, 0) <= 5000],
      ['right@2:no', ({ success }) => success[1] === 0],
      ['right@T:yes', ({ success }) => success.filter((s) => s !== null).at(-1) === 1],
      ['turns:3', ({ success }) => success.length === 3],
      ['finish:length', ({ turns }) => turns.tokens.some((n) => n! > 2000)],
      ['has:repair', ({ success }) => success.join().includes('0,1')],
      ['return>=1', ({ reward }) => reward !== null && reward >= 1],
    ];
    const some = fc.subarray(parts.map((_, i) => i));
    fc.assert(
      fc.property(someRows, some, (rows, chosen) => {
        const { holds, problems } = parseFilter(chosen.map((i) => parts[i]![0]).join('  '));
        expect(problems).toEqual([]);
        expect(rows.filter(holds)).toEqual(rows.filter((row) => chosen.every((i) => parts[i]![1](row))));
      }),
    );
  });

  test('reads any text in bounded time, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHAR, maxLength: 2000 }), someRows, (filter, rows) => {
        const { holds } = parseFilter(filter);
        expect(rows.filter(holds).length).toBeLessThanOrEqual(rows.length);
      }),
      { numRuns: 200 },
    );
    const began = performance.now();
    for (const bad of ['"', 'a:', '-', '>='].map((part) => part.repeat(1000))) parseFilter(bad);
    expect(performance.now() - began).toBeLessThan(2000);
  });

  test.each([
    'colour:red',
    'tokens>many',
    'right@1:maybe',
    'has:beans',
    'outcome>failed',
    'tokens@2:3',
    'constructor:x',
  ])('says what is wrong with %s', (part) => expect(parseFilter(part).problems.join()).toContain(part));
});

describe('the order of a list', () => {
  test('keeps every row, unknown facts last', () => {
    fc.assert(
      fc.property(
        someRows,
        fc.constantFrom('tokens', '-tokens', 'right', '-reward', 'query', 'nonsense'),
        (rows, by) => {
          const order = sorted(rows, by);
          expect(new Set(order)).toEqual(new Set(rows));
          if (!by.endsWith('tokens')) return;
          const totals = order.map(totalOf);
          const known = totals.filter((total) => total !== null);
          expect(totals.slice(0, known.length)).toEqual(known);
          const sign = by.startsWith('-') ? -1 : 1;
          expect(known).toEqual(known.toSorted((a, b) => sign * (a - b)));
        },
      ),
    );
  });
});

describe('the numbers by turn', () => {
  test('are of answers: a turn that called tools is none, and its tokens and reason are not of the answer before it', async () => {
    const turns = (given: object) => ({ extracted: null, server: null, versions: [0, 0] as const, ...given });
    const base = { index: 0, title: '', attempt: 1, state: 'complete', stop: 'max-turns', reason: null } as const;
    const rows: Row[] = [
      {
        ...{ ...base, query: 'a', sample: 0, success: [0, 1], reward: 1, endedAt: 5 },
        turns: turns({
          ...{ tokens: [100, 7, 200, 9], ms: [1, 2, 3, 4], finish: 'lsls', answers: [1, 3] },
          reasons: ['tools', 'different', 'tools', 'equal'],
          named: [{}, { rewards: { format: 1 } }, {}, { rewards: { format: 0.5 } }],
        }) as Row['turns'],
      },
      {
        ...{ ...base, query: 'a', sample: 1, success: [1, 1], reward: 1, endedAt: 5 },
        turns: turns({ tokens: [7, 9], ms: [2, 4], finish: 'ss', reasons: ['equal', 'equal'] }) as Row['turns'],
      },
    ];
    const summary = await inParts(
      summaryInParts(rows, { queries: 2, samples: 1, epochs: 1, numTurns: 2, stop: 'always' }),
    );
    expect(summary.turns.map(({ tokens, cut }) => [tokens?.p50, tokens?.max, cut])).toEqual([
      [7, 7, 0],
      [9, 9, 0],
    ]);
    expect(Object.fromEntries(summary.reasons)).toEqual({ equal: 3, different: 1 });
    expect(summary.named).toMatchObject([{ name: 'rewards.format', value: 0.75, n: 2, leftOut: 4 }]);
    expect(summary.tokens).toBe(332);
  });
});

describe('an address', () => {
  test('leads back to its page, whatever the ids are', () => {
    const list = { filter: text, sort: text };
    const place = fc.record({
      query: text.filter((t) => t !== ''),
      sample: fc.nat(999),
      attempt: fc.integer({ min: 1, max: 99 }),
    });
    const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);
    const route: fc.Arbitrary<Route> = fc.oneof(
      fc
        .record({ run: name, query: fc.option(text.filter((t) => t !== '')), sample: fc.nat(999), ...list })
        .map(({ filter, sort, ...compare }) => ({ page: 'runs' as const, filter, sort, compare })),
      fc.record({
        page: fc.constant('compare' as const),
        a: name,
        b: name,
        cell: fc.constantFrom(null, 'both' as const, 'only-b' as const),
        beside: fc.option(fc.record({ query: text.filter((t) => t !== ''), sample: fc.nat(999) })),
      }),
      fc.record({ page: fc.constant('several' as const), runs: fc.array(name, { minLength: 2, maxLength: 5 }) }),
      fc.record({
        page: fc.constant('run' as const),
        run: name,
        tab: fc.constantFrom('overview', 'rollouts', 'live', 'search'),
        ...list,
      }),
      fc
        .record({
          run: name,
          place,
          turn: fc.integer({ min: 1, max: 99 }),
          tokens: fc.boolean(),
          token: fc.nat(99_999),
          ...list,
        })
        .map((r) => ({ ...r, page: 'rollout' as const, token: r.tokens ? r.token : null })),
    );
    const whole = (t: string) => t.replace(/[\ud800-\udfff]/gu, '\ufffd');
    fc.assert(
      fc.property(route, (there) => {
        // An address has no lone surrogates.
        const clean = JSON.parse(JSON.stringify(there), (_, v: unknown) =>
          typeof v === 'string' ? whole(v) : v,
        ) as Route;
        expect(parseRoute(hrefOf(clean))).toEqual(clean);
      }),
    );
  });

  test('of nothing leads to the runs, and none throws', () => {
    fc.assert(fc.property(text, (hash) => void expect(parseRoute(`#${hash}`)).toHaveProperty('page')));
    expect(parseRoute('#/run/')).toEqual({ page: 'runs', filter: '', sort: '' });
  });
});

describe('tokens', () => {
  const encoder = new TextEncoder();
  /** A byte-level tokenizer: ids are pieces of UTF-8 of any length. */
  function byteLevel(whole: string, cuts: readonly number[]) {
    const all = encoder.encode(whole);
    const ends = [...new Set([...cuts.map((cut) => cut % (all.length + 1)), all.length])]
      .sort((a, b) => a - b)
      .filter((n) => n > 0);
    const pieces = ends.map((end, i) => all.subarray(ends[i - 1] ?? 0, end));
    const decode = (ids: readonly number[]) => new TextDecoder().decode(Buffer.concat(ids.map((id) => pieces[id]!)));
    return {
      ids: pieces.map((_, i) => i),
      decodeLists: (lists: readonly (readonly number[])[]) => Promise.resolve(lists.map(decode)),
    };
  }

  test('as cells are the recorded text, also where tokens cut characters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 20 }),
        fc.array(fc.nat(200), { maxLength: 30 }),
        async (whole, cuts) => {
          fc.pre(!whole.includes('\ufeff'));
          const { ids, decodeLists } = byteLevel(whole, cuts);
          const span = await tokenSpan({ decodeLists }, ids, whole);
          if (span === undefined) return;
          expect(span.texts.join('')).toBe(whole);
          const lengths = span.lengths ?? span.texts.map(() => 1);
          expect(lengths.reduce((a, b) => a + b, 0)).toBe(ids.length);
        },
      ),
    );
  });

  test('of a tokenizer that drops the first space have their texts', async () => {
    const words = ['▁It', '▁is', '▁42', '.'];
    const decode = (ids: readonly number[]) =>
      ids
        .map((id) => words[id]!)
        .join('')
        .replaceAll('▁', ' ')
        .replace(/^ /, '');
    const decoder = { decodeLists: (lists: readonly (readonly number[])[]) => Promise.resolve(lists.map(decode)) };
    expect((await tokenSpan(decoder, [0, 1, 2, 3], 'It is 42.'))?.texts).toEqual(['It', ' is', ' 42', '.']);
    expect(await tokenSpan(decoder, [0, 1], 'Other text')).toBeUndefined();
  });

  test('have ranks, a mean and a perplexity', () => {
    const stats = tokenStats([-1, -3, 0, -2])!;
    expect([stats.ranks, stats.lowest, stats.mean]).toEqual([[3, 1, 4, 2], [1, 3, 0, 2], -1.5]);
    expect(stats.perplexity).toBeCloseTo(Math.exp(1.5), 12);
    expect(tokenStats([])).toBeNull();
    expect([0, -0.2, -1, -2, -4, -9].map(surpriseStep)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('show every invisible byte', () => {
    expect(spelled(' \n\t\u200b\u0000\ud800\u202e')).toBe('␣↵⇥⟨U+200B⟩␀⟨U+D800⟩⟨U+202E⟩');
    expect(inText('a\u200bb\nc\u001b[31m')).toBe('a⟨U+200B⟩b↵\nc␛[31m');
    expect(bytes('€')).toBe('e2 82 ac');
    fc.assert(fc.property(text, (any) => void expect(inText(any).replace(/[\n\t]/g, '')).not.toMatch(/\p{C}/u)));
  });
});

describe('the head of a run', () => {
  test('counts each cause of a failure by itself, and a run failed where all of its rollouts did', () => {
    const nothing = { value: null } as never;
    const headline = { first: nothing, last: nothing, any: nothing, meanReturn: nothing } as never;
    const end = (reason: string, stop: null | 'failed', count: number) =>
      ({ state: 'failed', stop, reason, count }) as never;
    const ends = [end('server-auth', null, 3), end('request-refused', null, 2), end('server-auth', 'failed', 1)];
    const numbers = headNumbers({ headline, ended: 6, ends });
    expect(numbers.troubles).toEqual([
      { state: 'failed', count: 4, reason: 'server-auth' },
      { state: 'failed', count: 2, reason: 'request-refused' },
    ]);
    expect([6, 7].map((ended) => hasFailed({ ...numbers, ended }))).toEqual([true, false]);
  });
});

// What the Temporal UI shows as Markdown: text of models and data sets stays text.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeMarkdown } from '../../domain/text/foreign-text.ts';
import { collectionTable } from '../../domain/run/collection-table.ts';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { turnTable } from '../../domain/rollout/turn-facts.ts';
import { someResult, someTurn } from './some.ts';

const HOSTILE = fc.string({ unit: fc.constantFrom(...'a1 |*_`[]()!<>&#~\\\n\r') });

describe('the tables in Temporal’s UI', () => {
  test('hostile text becomes no markup and no second line', () => {
    fc.assert(
      fc.property(HOSTILE, (text) => {
        const escaped = escapeMarkdown(text);
        expect(escaped).not.toMatch(/[\r\n\u2028\u2029]/);
        expect(withoutEscapes(escaped)).not.toMatch(/[`*_{}[\]()#|<>~\\&]/);
      }),
      { numRuns: 500 },
    );
    expect(escapeMarkdown('<img src=x> & [a](javascript:b)')).toBe('&lt;img src=x&gt; &amp; \\[a\\]\\(javascript:b\\)');
  });

  test('a rollout’s table says turn, verdict, lengths, ending and versions', () => {
    const turns = [
      someTurn(),
      someTurn({ turn: 2, verdict: 'right', reason: 'equal', versionStart: 3, versionEnd: 5 }),
    ];
    expect(turnTable({ title: 'What is 2 + 2?', phase: 'turn 3', turns, numTurns: 5 }).replaceAll('\u00a0', '')).toBe(
      [
        '**What is 2 \\+ 2?**',
        '',
        'turn 3 (2 of 5 turns)',
        '',
        '| turn | verdict | tokens | context | finish | version | reason |',
        '|---:|---|---:|---:|---|---:|---|',
        '| 1 | wrong | 41 | 12 | stop | 0 | different |',
        '| 2 | right | 41 | 12 | stop | 3–5 | equal |',
      ].join('\n'),
    );
  });

  test('a collection’s table says accuracy by turn, and names its failures as text', () => {
    const counts = noCounts();
    const at = { out: 'runs', run: 'run', query: 'q|<b>\n# x', sample: 1, attempt: 1 };
    const base = {
      outcome: 'complete',
      stopReason: 'max-turns',
      turns: 2,
      returns: [],
      tokens: 9,
      reason: null,
    } as const;
    addResult(counts, { ...base, success: [0, 1], trajectory: at }, 2);
    addResult(counts, { ...base, success: [1, 0], trajectory: at }, 2);
    addResult(
      counts,
      { ...base, outcome: 'failed', stopReason: 'failed', turns: 0, success: [], reason: 'disk-full', trajectory: at },
      2,
    );
    expect(collectionTable({ state: 'running', total: 4, done: 3, inFlight: 1, counts }).replaceAll('\u00a0', '')).toBe(
      [
        'running: 3 of 4 rollouts, 1 in flight (2 complete, 0 undecided, 1 failed, 0 cancelled)',
        '',
        '| turn | judged | right | accuracy | right so far, of all |',
        '|---:|---:|---:|---:|---:|',
        '| 1 | 2 | 1 | 50.0 % | 25.0 % |',
        '| 2 | 2 | 1 | 50.0 % | 50.0 % |',
        '',
        '**Failures**',
        '',
        '- q\\|&lt;b&gt; \\# x / 1: failed, disk\\-full',
      ].join('\n'),
    );
  });

  test('a collection’s table is never divided by nothing', () => {
    const empty = { state: 'done', total: 0, done: 0, inFlight: 0 };
    expect(collectionTable({ ...empty, counts: noCounts() })).not.toMatch(/NaN|Infinity/);
    fc.assert(
      fc.property(fc.array(someResult(3), { maxLength: 10 }), (results) => {
        const counts = noCounts();
        for (const result of results) addResult(counts, result, 3);
        expect(collectionTable({ ...empty, counts })).not.toMatch(/NaN|Infinity|undefined/);
      }),
    );
  });
});

/** What is left to Markdown once backslash escapes and the three entities are read as text. */
function withoutEscapes(text: string): string {
  return text.replace(/\\[!-/:-@[-`{-~]|&(?:lt|gt|amp);/g, '');
}

// A text is found wherever it occurs, however JSON writes it, and nowhere else.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLoose } from './ended-rig.ts';
import type { Hit } from '../../domain/run/hit.ts';
import { searchRun, type SearchOptions } from '../../records/reading/search.ts';
import type { Store } from '../../records/store.ts';
import { aQuery, play, putRun } from './play.ts';

let out: string;
let store: Store;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'everturn-'));
  store = openLoose(out);
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

async function hits(text: string, options?: SearchOptions): Promise<Hit[]> {
  const found: Hit[] = [];
  for await (const hit of searchRun(store, text, options)) found.push(hit);
  return found;
}

const answering = (answer: string) => ({ turn: () => ({ answer, outputText: answer }) });

describe('a search', () => {
  test('finds questions, feedback and answers, and says where', async () => {
    const query = aQuery('a', { prompt: { kind: 'text', text: 'Carry the ONE, please' } });
    await putRun(store, [query]);
    await play(store, { query, verdicts: ['wrong', 'right', 'right'], ...answering('I carry the one.') });
    const found = await hits('carry the one');
    expect(found.map(({ where, turn, sample }) => [where, turn, sample])).toEqual([
      ['question', null, null],
      ['answer', 1, 0],
      ['answer', 2, 0],
      ['answer', 3, 0],
    ]);
    expect(found[1]).toMatchObject({ before: 'I ', found: 'carry the one', after: '.', count: 1 });
    expect((await hits('your answer is wrong')).map(({ where, turn }) => [where, turn])).toEqual([['feedback', 2]]);
  });

  test('finds any text that an answer holds: quotes, line breaks, emoji, lone surrogates', async () => {
    const query = aQuery('a');
    await putRun(store, [query]);
    const answers = ['say "x"\n\\boxed{7}\t✓', '😀 naïve İstanbul', 'a\ud800b', '\u2028 end'];
    for (const [sample, answer] of answers.entries())
      await play(store, { query, sample, verdicts: ['right', 'right', 'right'], ...answering(answer) });
    for (const [sample, answer] of answers.entries()) {
      for (let at = 0; at < answer.length; at += 3) {
        const found = await hits(answer.slice(at, at + 4));
        expect(found.some((hit) => hit.sample === sample && hit.where === 'answer')).toBe(true);
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 3, maxLength: 5, unit: 'binary' }), async (text) => {
        const wanted = answers.filter((answer) => answer.toLowerCase().includes(text.toLowerCase())).length;
        expect((await hits(text)).filter(({ where }) => where === 'answer')).toHaveLength(3 * wanted);
      }),
      { numRuns: 20 },
    );
  });

  test('goes on after a damaged record, and names it', async () => {
    const query = aQuery('a');
    await putRun(store, [query]);
    await play(store, { query, verdicts: ['right', 'right', 'right'], ...answering('seven') });
    writeFileSync(join(store.folder, 'rollouts/ca/a/0.1/turn-002.json'), '{"answer":"seven"}\n');
    const broken: string[] = [];
    const found = await hits('seven', { onBroken: (path) => broken.push(path) });
    expect(found.map(({ turn }) => turn)).toEqual([1, 3]);
    expect(broken).toEqual(['rollouts/ca/a/0.1/turn-002.json']);
  });
});

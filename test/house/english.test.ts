// The part of the rule "subject first, in the field's words" (CONTRIBUTING.md) that can be counted: no sentence of a
// comment or a page opens with a relative clause, and none uses a word of the private dialect.
// Not covered: error messages, most names, and the style of everything else.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOMS, ROOT, sources } from './tree.ts';

/** Folders and pages that are not rewritten yet. */
const LATER: readonly string[] = [];
const isLater = (path: string): boolean => LATER.some((later) => path.startsWith(later));
const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md') && !isLater(path),
);
const OURS = sources().filter(
  (path) => ROOMS.some((room) => path.startsWith(`${room}/`)) && /\.tsx?$/.test(path) && !isLater(path),
);

const OPENING = /(?:^|[.!?:;] )(?:Who|Whom|Whose|Whoever|What|Whatever|Where|Wherever)\b[^.?]*(?:[.;:]|$)/;
/** A name that is declared or a parameter: `told`, of the reports, claims and outputs that have names of their own. */
const NAMES = /\b(?:const|let|function) told\b|\btold: /;
const DIALECT = /\b(?:desks?|scoreboards?|vigils?|whoever|anew|for good|at hand)\b/i;

/** Blocks of consecutive comment lines, each as one line of text. */
function comments(source: string): string[] {
  const blocks: string[] = [];
  let open = false;
  for (const line of source.split('\n')) {
    const text = /^\s*(?:\/\/|\/\*\*|\*(?!\/))\s?(.*?)(?:\s*\*\/)?$/.exec(line)?.[1];
    if (text === undefined) open = false;
    else if (open && !line.trimStart().startsWith('/**')) blocks.push(`${blocks.pop() ?? ''} ${text}`.trim());
    else blocks.push(text);
    open = text !== undefined;
  }
  return blocks;
}

/** Paragraphs, items and cells outside of code and headings. */
function prose(page: string): string[] {
  const plain = page.replace(/```[\s\S]*?```/g, '').replace(/^(?: {4}|#).*$/gm, '');
  return plain.split(/\n{2,}|\n(?=[-|#\d])|\s\|\s/).map((text) => text.replaceAll('\n', ' ').replace(/^[-|#*\s]+/, ''));
}

function breaches(paths: readonly string[], blocksOf: (text: string) => string[], rule: RegExp): string[] {
  return paths.flatMap((path) =>
    blocksOf(readFileSync(join(ROOT, path), 'utf8'))
      .filter((block) => !path.endsWith('CONTRIBUTING.md') || !block.includes('Subject first'))
      .flatMap((block) => {
        const found = rule.exec(block);
        return found ? [`${path}: ${block.slice(found.index, found.index + 80)}`] : [];
      }),
  );
}

describe('the English of comments and pages', () => {
  test('puts the subject first: no sentence opens with Who, What or Where', () => {
    expect(OURS.length).toBeGreaterThan(150);
    expect(breaches(OURS, comments, OPENING)).toEqual([]);
    expect(breaches(PAGES, prose, OPENING)).toEqual([]);
  });

  test('has no word of the private dialect', () => {
    expect(breaches(OURS, comments, DIALECT)).toEqual([]);
    expect(breaches(PAGES, prose, DIALECT)).toEqual([]);
  });

  test('is that of names, too', () => {
    const breach = (path: string) => NAMES.exec(readFileSync(join(ROOT, path), 'utf8'))?.[0];
    expect(OURS.filter((path) => !path.startsWith('environments/math/') && breach(path) !== undefined)).toEqual([]);
  });

  test.each(['What it says counts.', 'It is read. Whoever asks waits.', 'The file: Where it is torn, it is moved.'])(
    'recognises an opening: %s',
    (text) => expect(OPENING.test(text)).toBe(true),
  );
  test.each(['What does it cost?', 'It says what it is.', 'A file that is there'])('lets pass: %s', (text) =>
    expect(OPENING.test(text)).toBe(false),
  );
});

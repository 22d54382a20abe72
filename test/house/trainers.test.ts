// The pages of examples/train/from, and the list of what no trainer gets: they name what their scripts and the code have.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REASONS } from '../../domain/errors/reasons.ts';
import { filesUnder, ROOT } from './tree.ts';

const FROM = 'examples/train/from';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const names = readdirSync(join(ROOT, FROM));
const pages = names.filter((name) => name.endsWith('.md'));
const scripts = names.filter((name) => !name.endsWith('.md'));
/** What a page changes: TRL's is the example that was there before. */
const scriptOf = (page: string): string => {
  const beside = scripts.find((name) => name.startsWith(page.replace('md', '')));
  return beside ? `${FROM}/${beside}` : 'examples/train/trl_grpo.py';
};

describe('a page for who comes from a trainer', () => {
  test('is there for TRL, verl, prime-rl, slime and AReaL, and docs/train.md names it', () => {
    expect(pages).toEqual(['areal.md', 'prime-rl.md', 'slime.md', 'trl.md', 'verl.md']);
    expect(pages.filter((page) => !read('docs/train.md').includes(`(../${FROM}/${page})`))).toEqual([]);
  });

  test.each(pages)('has at most 300 words, and links to what is there: %s', (page) => {
    expect(read(`${FROM}/${page}`).split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(300);
    const links = [...read(`${FROM}/${page}`).matchAll(/\]\((?!https?:)([^)#]+)(?:#([^)]*))?\)/g)];
    const headings = (path: string) =>
      [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
        text!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
    for (const [, target, anchor] of links) {
      const path = join(FROM, target!);
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      if (anchor) expect(headings(path), path).toContain(anchor);
    }
  });

  test.each(pages)('shows lines that its script has: %s', (page) => {
    const diff = /```diff\n([\s\S]*?)```/
      .exec(read(`${FROM}/${page}`))![1]!
      .split('\n')
      .filter(Boolean);
    const script = read(scriptOf(page));
    const added = diff.filter((line) => line.startsWith('+')).map((line) => line.slice(1).trim());
    expect(added.length).toBeGreaterThan(3);
    expect(added.filter((line) => !script.includes(line))).toEqual([]);
    // what it removes is another's: a patch has those lines too
    const removed = diff.filter((line) => line.startsWith('-'));
    if (scriptOf(page).endsWith('.patch'))
      expect(removed.filter((line) => !script.includes(`\n${line}\n`))).toEqual([]);
  });

  test('has a script that says first that it was not run, where no CPU can', () => {
    expect(scripts).toEqual(['areal.patch', 'prime-rl.toml', 'slime.patch', 'verl.sh']);
    expect(scripts.filter((name) => !/^(?:# )?Not run: [^\n]+ need/.test(read(`${FROM}/${name}`)))).toEqual([]);
  });

  test.each(pages)('gives `everturn run` flags that docs/settings.md has: %s', (page) => {
    const [command] = / {4}everturn run (?:.*\\\n)*.*\n/.exec(read(`${FROM}/${page}`))!;
    const given = command.match(/--[a-z-]+/g)!;
    expect(given).toContain('--train');
    expect(given.filter((flag) => flag !== '--detach' && !read('docs/settings.md').includes(flag))).toEqual([]);
  });
});

describe('the list of what is not carried in docs/train.md', () => {
  const list = read('docs/train.md').split('## What is not carried')[1]!;
  const rows = [...list.matchAll(/^\| ([a-z][^|]+) \|([^|]*)\|$/gm)];
  const python = filesUnder('python/everturn').filter((path) => path.endsWith('.py'));
  const ours = [...python, ...filesUnder('domain/samples')].map((path) => [path, read(path)] as const);

  test('names fields that no class, adapter or row of ours fills', () => {
    const fields = rows.flatMap(([, , cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, field]) => field!));
    expect(fields.length).toBeGreaterThan(8);
    // as the key of a dict, the member of a type, or an argument
    const fills = (text: string, field: string) =>
      new RegExp(`["']${field}["'](?!: \\{\\},)|readonly ${field}\\b|\\b${field}=`).test(text);
    expect(
      fields.flatMap((field) => ours.flatMap(([path, text]) => (fills(text, field) ? [`${path}: ${field}`] : []))),
    ).toEqual([]);
    expect(read('python/everturn/integrations/verl.py')).toContain('"multi_modal_inputs": {},');
  });

  test('quotes refusals in the words of the code', () => {
    const quoted = [...list.matchAll(/“([^”]+)”/g)].map(([, words]) => words!);
    expect(quoted).toHaveLength(1);
    expect(quoted.filter((words) => !read('formats/datasets/prompt.ts').includes(words))).toEqual([]);
    const reasons = [...list.matchAll(/\(`([a-z-]+)`\)/g)].map(([, reason]) => reason);
    expect(reasons).toEqual(['other-model']);
    expect(Object.values(REASONS).flat()).toContain('other-model');
  });
});

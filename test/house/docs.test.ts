// The documentation names only what exists, and its generated tables are those of today.
// The tables are written by the command in WRITE_TABLES.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../cli/program.ts';
import { EXPORTERS, EXPORT_FORMATS } from '../../formats/exports/index.ts';
import { settingsTable } from './settings-table.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { filesUnder, isOfTests, ROOMS, ROOT, sources } from './tree.ts';

const WRITE_TABLES = 'UPDATE_DOCS=1 npx vitest run --project near test/house/docs.test.ts';
const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
);
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const OURS = sources().filter((path) => path.endsWith('.ts') && !isOfTests(path));

describe('the documentation', () => {
  test('and every file let npx fetch no package by our name, which anybody may register', () => {
    const texts = filesUnder().filter((path) => /\.(?:tsx?|m?js|py|md|sh|sbatch|yaml|ya?ml|json)$/.test(path));
    const fetching = texts.filter((path) => /npx['", ]+(?:-y )?everturn/.test(read(path)));
    expect(fetching.filter((path) => !isOfTests(path))).toEqual([]);
  });

  test('and every error message name only commands that exist', async () => {
    const program = await buildProgram(scriptedIo(), [], () => undefined);
    const known = new Set(['help', ...program.commands.map((command) => command.name())]);
    const called = /(?:npx --no-install |`|^ {4})everturn ([a-z][a-z-]*)/gm;
    const unknown = [...PAGES, ...OURS].flatMap((path) =>
      [...read(path).matchAll(called)].filter((m) => !known.has(m[1]!)).map((m) => `${path}: ${m[0]}`),
    );
    expect(unknown).toEqual([]);
  });

  test.each([
    ['docs/settings.md', 'flags'],
    ['docs/temporal.md', 'fields'],
  ] as const)('holds the table of settings as the code has it: %s', (path, names) => {
    const [begin, end] = [`<!-- settings: ${names} -->`, '<!-- /settings -->'];
    const page = read(path);
    const [before, rest] = page.split(begin);
    const table = rest?.split(end)[0]?.trim();
    if (process.env['UPDATE_DOCS'] && rest !== undefined) {
      const after = rest.slice(rest.indexOf(end));
      writeFileSync(join(ROOT, path), `${before}${begin}\n\n${settingsTable(names)}\n\n${after}`);
    } else expect(table, `written by: ${WRITE_TABLES}`).toBe(settingsTable(names));
  });

  test('has a line for every export format, with the answers of text that it refuses: docs/formats.md', () => {
    const rows = [...read('docs/formats.md').matchAll(/^\| `([a-z-]+)` \|.*\| (refused|taken)[^|]*\|$/gm)];
    const refusing = new Set(EXPORTERS.flatMap(({ name, needsIds }) => (needsIds ? [name] : [])));
    const wanted = EXPORT_FORMATS.map(({ name }) => [name, refusing.has(name) ? 'refused' : 'taken']);
    expect(
      rows.map(([, name, answers]) => [name, answers]),
      'the first table of docs/formats.md has a line for each format, in the order of formats/exports/index.ts',
    ).toEqual(wanted);
  });

  test('has a line for every room', () => {
    const table = /^\| room \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(read('CONTRIBUTING.md'))![1]!;
    expect(
      ROOMS.filter((room) => !table.includes(`\n| \`${room}\` |`) && !table.startsWith(`| \`${room}\` |`)),
      'rooms without a line in the table of CONTRIBUTING.md',
    ).toEqual([]);
  });

  test('is as short as somebody with ten minutes needs it: 1,500 words a guide, 28,200 in all, as `wc -w` counts', () => {
    const words = (path: string) => read(path).split(/\s+/).filter(Boolean).length;
    const guides = PAGES.filter((path) => /^CONTRIBUTING|^docs\/(?!settings|evidence)/.test(path));
    expect(guides.filter((path) => words(path) > 1500)).toEqual([]);
    const docs = PAGES.filter((path) => path.startsWith('docs/'));
    expect(docs.reduce((sum, path) => sum + words(path), 0)).toBeLessThanOrEqual(28_200);
    const long = PAGES.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, i) => (line.length > 160 && !/^[|[]/.test(line) ? [`${path}:${i + 1}`] : [])),
    );
    expect(long).toEqual([]);
  });

  test('has no table that a blank line tears: what follows it would show as text', () => {
    const isRow = (line = '') => line.startsWith('|');
    const isRule = (line = '') => /^\|[-| :]+\|$/.test(line);
    const torn = PAGES.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, i, all) => {
          const begins = isRow(line) && !isRow(all[i - 1]);
          return (begins && !isRule(all[i + 1])) || (isRule(line) && !isRow(all[i + 1])) ? [`${path}:${i + 1}`] : [];
        }),
    );
    expect(torn).toEqual([]);
  });

  test('links only to pages and files that are there', () => {
    const files = new Set([...sources(), ...PAGES]);
    const broken = PAGES.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)]
        .map((m) => join(path, '..', m[1]!))
        .filter(
          (target) => !files.has(target) && !readdirSync(join(ROOT, target, '..')).includes(target.split('/').at(-1)!),
        )
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

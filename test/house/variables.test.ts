// docs/settings.md names every environment variable that the program reads, and none that it does not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FIELDS } from '../../run/options.ts';

const root = join(import.meta.dirname, '../..');
const NAME = /EVERTURN_[A-Z][A-Z_]*[A-Z]/g;
/** Examples in comments and messages, of options. */
const ofOption = (key: string) => `EVERTURN_${key.replace(/([A-Z])/g, '_$1').toUpperCase()}`;
const options = Object.keys(FIELDS).map(ofOption);

function sources(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const other =
        folder === root && /^(?:node_modules|dist|test|docs|runs|examples|python|models|\..*)$/.test(entry.name);
      return other ? [] : sources(path);
    }
    return /\.(?:ts|mjs)$/.test(entry.name) && !entry.name.endsWith('.config.ts') ? [path] : [];
  });
}

const read = new Set(sources().flatMap((path) => readFileSync(path, 'utf8').match(NAME) ?? []));
const table = readFileSync(join(root, 'docs/settings.md'), 'utf8');
const [ofOptions] = /<!-- settings: variables -->[^]*<!-- \/settings -->/.exec(table)!;
const documented = [
  ...[...table.matchAll(/^\| `(EVERTURN_[A-Z_]+)` \|/gm)].map(([, name]) => name!),
  ...ofOptions.match(NAME)!,
];

describe('the environment variables of docs/settings.md', () => {
  test('has a line for each variable that a source file names, and for each option', () => {
    expect(read.size).toBeGreaterThan(8);
    // `EVERTURN_NAME` stands for all of the options in a help text.
    const wanted = [...read, ...options].filter((name) => name !== 'EVERTURN_NAME');
    expect(wanted.filter((name) => !documented.includes(name))).toEqual([]);
  });

  test('names none that nothing reads, and none twice', () => {
    expect(documented.filter((name) => !read.has(name) && !options.includes(name))).toEqual([]);
    expect(documented.filter((name, i) => documented.indexOf(name) < i)).toEqual([]);
  });

  test('is all that README and docs speak of', () => {
    const files = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((f) =>
      f.endsWith('.md'),
    );
    const said = files.flatMap((file) =>
      (readFileSync(join(root, file), 'utf8').match(NAME) ?? []).map((name) => ({ file, name })),
    );
    const chaos = /^EVERTURN_(?:CHAOS|TEST|BENCH|CLOCK|MARKS|FUZZ)/;
    expect(said.filter(({ name }) => !documented.includes(name) && !chaos.test(name))).toEqual([]);
  });
});

// docs/settings.md names every environment variable that the program reads, and none that it does not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variableOf } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { ROOMS, ROOT as root, sources } from './tree.ts';

const NAME = /EVERTURN_[A-Z][A-Z_]*[A-Z]/g;
const options = Object.keys(FIELDS).map(variableOf);

/** Of the rooms and of the root. */
const ours = sources().filter(
  (path) => !path.endsWith('.config.ts') && (!path.includes('/') || ROOMS.some((room) => path.startsWith(`${room}/`))),
);
const read = new Set(ours.flatMap((path) => readFileSync(join(root, path), 'utf8').match(NAME) ?? []));
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
    const missing = wanted.filter((name) => !documented.includes(name));
    expect(missing, 'docs/settings.md has a table of variables').toEqual([]);
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

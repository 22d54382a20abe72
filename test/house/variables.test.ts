// docs/settings.md names every environment variable that the program reads, and none that it does not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variableOf } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { isOfTests, ROOMS, ROOT as root, sources } from './tree.ts';

const NAME = /EVERTURN_[A-Z][A-Z_]*[A-Z]/g;
const options = Object.keys(FIELDS).map(variableOf);

/** Of the rooms and of the root. */
const ours = sources().filter(
  (path) =>
    !path.endsWith('.config.ts') &&
    !isOfTests(path) &&
    (!path.includes('/') || ROOMS.some((room) => path.startsWith(`${room}/`))),
);
const read = new Set(ours.flatMap((path) => readFileSync(join(root, path), 'utf8').match(NAME) ?? []));
/** In the first cell of a table's line. */
const documented = ['docs/settings.md', 'docs/agents.md'].flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/^\| (`EVERTURN_[^|]*)\|/gm)].flatMap(([, names]) =>
    names!.match(NAME)!,
  ),
);

describe('the environment variables of docs/settings.md, and of agents in docs/agents.md', () => {
  test('have a line for each variable that a source file names', () => {
    expect(read.size).toBeGreaterThan(8);
    // `EVERTURN_NAME` stands for all of the options in a help text.
    const wanted = [...read].filter((name) => name !== 'EVERTURN_NAME' && !options.includes(name));
    const missing = wanted.filter((name) => !documented.includes(name));
    expect(missing, 'docs/settings.md has a table of variables').toEqual([]);
  });

  test('name none that nothing reads, and none twice', () => {
    expect(documented.filter((name) => !read.has(name))).toEqual([]);
    expect(documented.filter((name, i) => documented.indexOf(name) < i)).toEqual([]);
  });

  test('are all that README and docs speak of', () => {
    const files = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((f) =>
      f.endsWith('.md'),
    );
    const said = files.flatMap((file) =>
      (readFileSync(join(root, file), 'utf8').match(NAME) ?? []).map((name) => ({ file, name })),
    );
    const chaos = /^EVERTURN_(?:CHAOS|TEST|BENCH|CLOCK|MARKS|FUZZ)/;
    expect(said.filter(({ name }) => ![...documented, ...options].includes(name) && !chaos.test(name))).toEqual([]);
  });
});

// Folders form an order: where A's files import B's, B's import A's neither at once nor through others, types included. A
// folder's own files and each of its sub-folders count apart; a registry or an entry stands above its folder.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOfTests, ROOT, sources } from './tree.ts';

/** Beside each `index.ts`. */
const ENTRIES = ['cli/main.ts', 'cli/program.ts', 'records/file-store.ts'];

const folderOf = (path: string): string =>
  /(?:^|\/)index\.tsx?$/.test(path) || ENTRIES.includes(path) ? path : dirname(path);

/** The folders that each folder's files import. */
function importedFolders(): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>();
  for (const path of sources().filter((path) => !isOfTests(path) && !path.startsWith('examples/'))) {
    const folder = folderOf(path);
    const known = imported.get(folder) ?? new Set();
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, specifier] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g))
      known.add(folderOf(join(dirname(path), specifier!)));
    imported.set(folder, known);
  }
  return imported;
}

/** All folders that can be reached from `folder`. */
function reachedFrom(folder: string, imported: Map<string, Set<string>>): Set<string> {
  const reached = new Set<string>();
  const walk = (from: string): void => {
    for (const next of imported.get(from) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      walk(next);
    }
  };
  walk(folder);
  return reached;
}

describe('the folders', () => {
  test('form no circle', () => {
    const imported = importedFolders();
    const reached = new Map([...imported.keys()].map((folder) => [folder, reachedFrom(folder, imported)]));
    const circles = [...imported.keys()].map((folder) =>
      [...reached.get(folder)!].filter((other) => reached.get(other)?.has(folder)).toSorted(),
    );
    const several = circles.filter(
      (circle) => new Set(circle.map((path) => path.replace(/\/[^/]+\.tsx?$/, ''))).size > 1,
    );
    expect([...new Set(several.map((circle) => circle.join(' ')))]).toEqual([]);
  });
});

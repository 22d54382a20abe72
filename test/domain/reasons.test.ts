// The lists of reasons against the source and against the documentation. That a class admits no reason of another
// boundary is the compiler's to prove: the types of domain/errors/errors.ts.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BOUNDARIES, boundaryOfReason, isBoundary, REASONS } from '../../domain/errors/reasons.ts';

const ROOT = join(import.meta.dirname, '../..');
const ELSEWHERE = /^(node_modules|dist|test|bench|\.)/;

function source(): string {
  const files = readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => !ELSEWHERE.test(name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(ROOT, entry.name), { encoding: 'utf8', recursive: true }).map((name) =>
            join(entry.name, name),
          )
        : [entry.name],
    );
  return files
    .filter((name) => name.endsWith('.ts') && name !== join('domain', 'errors', 'reasons.ts'))
    .map((name) => readFileSync(join(ROOT, name), 'utf8'))
    .join('\n');
}

describe('the reasons of failures', () => {
  test('are all in use', () => {
    const text = source();
    // follow-to-end.ts puts the state of the workflow behind this.
    const used = (reason: string) => text.includes(`'${reason}'`) || reason.startsWith('workflow-');
    expect(BOUNDARIES.flatMap((boundary) => REASONS[boundary].filter((reason) => !used(reason)))).toEqual([]);
  });

  test('are kebab-case, in order and listed once a boundary', () => {
    for (const boundary of BOUNDARIES) {
      expect(REASONS[boundary]).toEqual([...new Set(REASONS[boundary])].toSorted());
      for (const reason of REASONS[boundary]) expect(reason).toMatch(/^[a-z]+(-[a-z]+)*$/);
    }
  });

  test('have boundaries that stand in docs/reliability.md, and no others do', () => {
    const docs = readFileSync(join(ROOT, 'docs', 'reliability.md'), 'utf8');
    expect([...docs.matchAll(/^\| `([a-z]+)` \|/gm)].map((m) => m[1]).toSorted()).toEqual([...BOUNDARIES].toSorted());
  });

  test('give a boundary to old records only where one alone has that reason', () => {
    expect(boundaryOfReason('server-error')).toBe('model');
    expect(boundaryOfReason('server-start')).toBe('temporal');
    expect(boundaryOfReason('no-such-run')).toBeUndefined();
    expect(boundaryOfReason('constructor')).toBeUndefined();
    expect(['usage', 'toString', '', null, 7].map(isBoundary)).toEqual([true, false, false, false, false]);
  });
});

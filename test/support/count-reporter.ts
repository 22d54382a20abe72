// Ends a test run with what was skipped and why, and one line for machines, `N passed, N failed`, after everything else
// that is printed. A file that cannot be loaded, a hook that fails and an error outside of any test count as failed.

import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Vitest asks a reporter's file for its default export and calls it with `new`. */
export default function countReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const lines = [...skippedLines(modules), countLine(modules, unhandled.length)];
      process.once('exit', () => writeSync(1, `${lines.join('\n')}\n`));
    },
  };
}

/** One line per reason and file, with its tests; a test that was skipped without a reason says so. */
export function skippedLines(modules: readonly TestModule[]): string[] {
  const skipped = new Map<string, string[]>();
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const result = test.result();
      if (result.state !== 'skipped') continue;
      const head = `skipped: ${module.relativeModuleId}: ${oneLine(result.note ?? 'no reason is given')}`;
      skipped.set(head, [...(skipped.get(head) ?? []), oneLine(test.fullName)]);
    }
  }
  return [...skipped].flatMap(([head, names]) => [head, ...names.map((name) => `    ${name}`)]);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

export function countLine(modules: readonly TestModule[], unhandled: number): string {
  let passed = 0;
  let failed = unhandled;
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed++;
      else if (state === 'failed') failed++;
    }
    failed += module.errors().length;
    for (const suite of module.children.allSuites()) failed += suite.errors().length;
  }
  return `${passed} passed, ${failed} failed`;
}

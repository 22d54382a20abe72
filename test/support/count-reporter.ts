// Ends a test run with one line for machines, `N passed, N failed`, after everything else that is printed.
// A file that cannot be loaded, a hook that fails and an error outside of any test count as failed.

import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Vitest asks a reporter's file for its default export and calls it with `new`. */
export default function countReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const line = countLine(modules, unhandled.length);
      process.once('exit', () => writeSync(1, `${line}\n`));
    },
  };
}

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

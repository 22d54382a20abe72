// What a test run says: each failure as it happens, progress now and then, at the end what was skipped and why, and one line
// for machines, `N passed, N failed`, after everything else that is printed. A file that cannot be loaded, a hook that
// fails and an error outside of any test count as failed. Under test/run.mjs all else is in a file, which a failure names.

import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const LOG = process.env['EVERTURN_TEST_LOG'];
const print = (lines: readonly string[]): void => void writeSync(LOG === undefined ? 1 : 3, `${lines.join('\n')}\n`);
const PROGRESS_MS = 60_000;
const MOST_LINES = 40;

/** Vitest asks a reporter's file for its default export and calls it with `new`. */
export default function countReporter(): Reporter {
  let files = 0;
  let ended = 0;
  let saidAt = Date.now();
  return {
    onTestRunStart: (specifications) => void (files = specifications.length),
    onTestModuleEnd(module) {
      ended++;
      const failures = failuresIn(module);
      if (failures.length > 0) print(failures);
      if (Date.now() - saidAt < PROGRESS_MS) return;
      saidAt = Date.now();
      print([`${ended} of ${files} files`]);
    },
    onTestRunEnd(modules, unhandled) {
      const count = countLine(modules, unhandled.length);
      const outside = unhandled.flatMap((error) => errorLines('an error outside of any test', error));
      const named = LOG !== undefined && !count.endsWith(' 0 failed') ? [`All output is in ${LOG}.`] : [];
      const lines = [...outside, ...slowLines(modules), ...skippedLines(modules), ...named, count];
      process.once('exit', () => print(lines));
    },
  };
}

export function failuresIn(module: TestModule): string[] {
  const lines = module.errors().flatMap((error) => errorLines(module.relativeModuleId, error));
  for (const suite of module.children.allSuites())
    lines.push(
      ...suite.errors().flatMap((error) => errorLines(`${module.relativeModuleId} > ${suite.fullName}`, error)),
    );
  for (const test of module.children.allTests('failed'))
    for (const error of test.result().errors ?? [])
      lines.push(...errorLines(`${module.relativeModuleId} > ${test.fullName}`, error));
  return lines;
}

function errorLines(place: string, { message, diff, stacks }: SerializedError): string[] {
  const [at] = stacks ?? [];
  const said = [message, ...(diff ? [diff] : []), ...(at ? [`at ${at.file}:${at.line}`] : [])].join('\n').split('\n');
  return [`FAILED: ${place}`, ...said.slice(0, MOST_LINES).map((line) => `    ${line}`)];
}

/** The ten files that took longest: they make a run as long as it is. */
function slowLines(modules: readonly TestModule[]): string[] {
  const took = modules.map(
    (module) => [Math.round(module.diagnostic().duration / 1000), module.relativeModuleId] as const,
  );
  const slowest = took.toSorted(([a], [b]) => b - a).slice(0, 10);
  return [`slowest: ${slowest.map(([seconds, name]) => `${name} ${seconds} s`).join(', ')}`];
}

/** One line per reason and file. */
export function skippedLines(modules: readonly TestModule[]): string[] {
  const skipped = new Map<string, number>();
  for (const module of modules) {
    for (const test of module.children.allTests('skipped')) {
      const result = test.result();
      const note = result.state === 'skipped' ? result.note : undefined;
      const head = `skipped: ${module.relativeModuleId}: ${oneLine(note ?? 'no reason is given')}`;
      skipped.set(head, (skipped.get(head) ?? 0) + 1);
    }
  }
  return [...skipped].map(([head, tests]) => (tests === 1 ? head : `${head} (${tests} tests)`));
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

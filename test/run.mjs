// Runs vitest so that a green run says little: the tests' own servers, workers and commands write their expected errors to
// a file, which is named when something fails. What fails, progress and the summary come from support/count-reporter.ts.

import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), 'everturn-test-'));
const log = join(folder, 'output.log');
const output = openSync(log, 'a');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const args = ['run', '--reporter=default', '--reporter=./test/support/count-reporter.ts', ...process.argv.slice(2)];
const child = spawn(process.execPath, [vitest, ...args], {
  cwd: root,
  // The fourth is our own output, for the reporter.
  stdio: ['inherit', output, output, 1],
  env: { ...process.env, EVERTURN_TEST_LOG: log },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  if (code === 0) rmSync(folder, { recursive: true });
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});

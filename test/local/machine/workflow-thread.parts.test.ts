// The SDK's workflow threads begin in a script of ours, in which no stacks of promises can be recorded: with the compiled
// script and real threads; one of its name does what the SDK's own script does.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { once } from 'node:events';
import type workerThreads from 'node:worker_threads';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../../support/scratch-folder.ts';

const require = createRequire(import.meta.url);
const folder = scratchFolder();

/** Does what the SDK does: hooks promises if it can, warns if it cannot; and says what became of it. */
const SCRIPT = `
const v8 = require('node:v8');
const { parentPort } = require('node:worker_threads');
const said = [];
console.warn = (line) => said.push(line);
let hooked = true;
`;
const HOOK = `
try { v8.promiseHooks.createHook({})(); } catch { hooked = false; console.warn('no stacks'); }
console.warn('another');
const { AsyncLocalStorage } = require('node:async_hooks');
const storage = new AsyncLocalStorage();
const stored = () => storage.run('stored', async () => (await null, storage.getStore()));
parentPort.on('message', async (m) => {
  parentPort.postMessage({ hooked, said, stack: new Error('its stack').stack, m, stored: await stored() });
});
`;

interface Answer {
  readonly hooked: boolean;
  readonly said: readonly string[];
  readonly stack: string;
  readonly m: string;
  readonly stored: string;
}

describe('the threads in which the SDK plays workflows', () => {
  const name = (script: string) => join(folder, script, 'workflow-worker-thread.js');
  beforeAll(async () => {
    mkdirSync(join(folder, 'sdk'));
    writeFileSync(join(folder, 'other.js'), SCRIPT + HOOK);
    // The warner of that moment is the thread's own: what ours leaves out never reaches it.
    writeFileSync(name('sdk'), SCRIPT.replace('console.warn = (line) => said.push(line);', '') + HOOK);
    const { makeWorkflowThreadsLean } = (await import('../../../dist/local/machine/workflow-thread.js' as string)) as {
      makeWorkflowThreadsLean: () => void;
    };
    makeWorkflowThreadsLean();
    makeWorkflowThreadsLean();
  });

  async function answerOf(script: string, printed: string[] = []) {
    const { Worker } = require('node:worker_threads') as typeof workerThreads;
    const thread = new Worker(script, { stderr: true });
    thread.stderr.on('data', (chunk: Buffer) => printed.push(String(chunk)));
    // As the SDK does, before the script can have begun.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    thread.postMessage('first');
    const [answer] = (await once(thread, 'message')) as [Answer];
    await thread.terminate();
    return answer;
  }

  test('record no stacks of promises, say nothing of it, hear the first message, and keep the stacks of errors', async () => {
    const printed: string[] = [];
    const { hooked, stack, m, stored } = await answerOf(name('sdk'), printed);
    expect({ hooked, m }).toEqual({ hooked: false, m: 'first' });
    // Node's own hooks of promises are there: cancellation scopes of workflows are stored by them.
    expect(stored).toBe('stored');
    expect(stack).toMatch(/its stack\n\s+at /);
    expect(printed.join('')).not.toContain('no stacks');
    expect(printed.join('')).toContain('another');
  });

  test('are the only ones changed: another script of a thread begins as it is', async () => {
    const { hooked, said } = await answerOf(join(folder, 'other.js'));
    expect({ hooked, said }).toEqual({ hooked: true, said: ['another'] });
  });

  test('are made by this SDK as ours expects: from that script, by the class of that module, with hooks that may fail', () => {
    const lib = (path: string) => join(require.resolve('@temporalio/worker/package.json'), '../lib/workflow', path);
    expect(readFileSync(lib('threaded-vm.js'), 'utf8')).toContain(
      "new node_worker_threads_1.Worker(require.resolve('./workflow-worker-thread'))",
    );
    expect(readFileSync(lib('vm-shared.js'), 'utf8')).toMatch(
      /try \{\s+this\.stopPromiseHook = node_v8_1\.default\.promiseHooks\.createHook\(/,
    );
  });
});

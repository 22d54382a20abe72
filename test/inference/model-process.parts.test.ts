// What becomes of requests and processes when one of them dies.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ModelProcess, type RestartPolicy } from '../../inference/embedded/model-process.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import type { GenerateMessage, LoadMessage } from '../../inference/embedded/protocol.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const ENTRY = join(packageRoot(), 'dist/inference/embedded/child.js');
const LOAD: LoadMessage = {
  type: 'load',
  source: { kind: 'folder', path: TINY_FOLDER, name: 'tiny' },
  id: null,
  key: '',
  tokenizerSize: 10,
};
const LONG: Omit<GenerateMessage, 'type' | 'id' | 'key'> = {
  contextIds: Int32Array.of(1, 5, 6),
  maxNewTokens: 1500,
  sampling: { temperature: 1, topP: 1, topK: 1e8 },
  seed: 1,
  deterministic: true,
  stopTokenIds: [],
};
const PATIENT: RestartPolicy = { maxDeaths: 3, backoffMs: 1, restMs: 60_000 };

const folder = mkdtempSync(join(tmpdir(), 'everturn-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open: ModelProcess[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
});

function modelProcess(entry: string, policy = PATIENT): ModelProcess {
  const model = new ModelProcess(entry, LOAD, () => undefined, policy);
  open.push(model);
  return model;
}

/** A child of one statement per message type. */
function scripted(name: string, onMessage: string): string {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(
    path,
    `process.on('disconnect', () => process.exit());\nprocess.on('message', (m) => { ${onMessage} });\n`,
  );
  return path;
}

const READY = `if (m.type === 'load') process.send({ type: 'ready', id: m.id, facts: { vocabSize: 9, contextLength: 99, eosTokenIds: [1], fingerprint: String(process.env.EVERTURN_TEST_WEIGHTS), notes: [] } });`;

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    // a dead process whose parent has not looked yet is gone, too
    const state = execFileSync('sh', ['-c', `cut -d' ' -f3 /proc/${pid}/stat 2>/dev/null || echo Z`])
      .toString()
      .trim();
    if (state === 'Z') return;
    await sleep(20);
  }
}

describe('the model process', () => {
  test('rejects what it was answering when its process is killed, retryably, and answers the next request', async () => {
    const model = modelProcess(ENTRY);
    await model.start();
    const killed = model.pid!;
    const answering = model.generate(LONG, new AbortController().signal, () => process.kill(killed, 'SIGKILL'));
    await expect(answering).rejects.toMatchObject({ reason: 'model-process-died', retryable: true });
    const { outputIds } = await model.generate({ ...LONG, maxNewTokens: 5 }, new AbortController().signal);
    expect(outputIds).toHaveLength(5);
    expect(model.pid).not.toBe(killed);
  });

  test('leaves no process when it is closed, even while it answers', async () => {
    const model = modelProcess(ENTRY);
    await model.start();
    const pid = model.pid!;
    const answering = model.generate(LONG, new AbortController().signal);
    const [outcome] = await Promise.allSettled([answering, model.close()]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'backend-closed' } });
    await untilGone(pid);
  });

  test('leaves no process when its parent is killed, even while it answers', async () => {
    const script = join(folder, 'parent.mjs');
    const url = (path: string) => JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', path)).href);
    writeFileSync(
      script,
      `const { ModelProcess } = await import(${url('inference/embedded/model-process.js')});
     const model = new ModelProcess(${JSON.stringify(ENTRY)}, ${JSON.stringify(LOAD)}, () => undefined);
     await model.start();
     const long = { ...${JSON.stringify({ ...LONG, contextIds: [] })}, contextIds: Int32Array.of(1, 5, 6) };
     model.generate(long, new AbortController().signal, () => console.log(model.pid));`,
    );
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (text) => resolve(Number(text))));
    expect(pid).toBeGreaterThan(0);
    parent.kill('SIGKILL');
    await untilGone(pid);
  });

  test('gives up a process that keeps dying, with its last words, and tries it again after a rest', async () => {
    const dies = scripted('dies', `console.error('cannot map the weights'); process.exit(7);`);
    const model = modelProcess(dies, { maxDeaths: 3, backoffMs: 1, restMs: 300 });
    const given = {
      reason: 'model-process-crash-loop',
      retryable: true,
      message: expect.stringContaining('cannot map'),
    };
    await expect(model.start()).rejects.toMatchObject(given);
    await expect(model.start()).rejects.toMatchObject(given);
    writeFileSync(
      dies,
      `process.on('disconnect', () => process.exit());\nprocess.on('message', (m) => { ${READY} });\n`,
    );
    await expect
      .poll(() =>
        model.start().then(
          (facts) => facts.vocabSize,
          () => 'resting',
        ),
      )
      .toBe(9);
  });

  test('passes on what is wrong with a model, and does not try again', async () => {
    const model = modelProcess(
      scripted(
        'refuses',
        `process.send({ type: 'error', id: null, message: 'no such file', reason: 'model-incomplete', fix: 'Add it.', retryable: false, causes: ['ENOENT'] });`,
      ),
    );
    await expect(model.start()).rejects.toMatchObject({
      name: 'ModelError',
      reason: 'model-incomplete',
      fix: 'Add it.',
      cause: expect.objectContaining({ message: 'ENOENT' }),
    });
  });

  test('refuses to go on with other weights after its process died', async () => {
    const model = modelProcess(scripted('weights', `${READY} if (m.type === 'generate') process.exit(1);`));
    process.env['EVERTURN_TEST_WEIGHTS'] = 'before';
    await model.start();
    process.env['EVERTURN_TEST_WEIGHTS'] = 'after';
    const signal = new AbortController().signal;
    await expect(model.generate(LONG, signal)).rejects.toMatchObject({ reason: 'model-process-died' });
    await expect(model.generate(LONG, signal)).rejects.toMatchObject({ reason: 'model-changed' });
  });
});

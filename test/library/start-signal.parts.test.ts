// A signal ends what a program waits for at once, wherever it waits: for rows, for a model or a Temporal server that does not
// answer, for rollouts and the end of a run. A run that was not made leaves nothing.

import { existsSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openRun, type RunEvent, start, type StartOptions } from '../../library/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, putRun, RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const LEFT = new Error('The user left.');
/** Accepts connections, and says nothing. */
let silent: Server;
let address: string;
let leave: AbortController;

beforeAll(async () => {
  silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  writeFileSync(
    join(folder, 'rows.jsonl'),
    `${JSON.stringify({ id: 'q1', question: 'What is 1 + 1?', answer: '2' })}\n`,
  );
});
afterAll(() => silent.close());
beforeEach(() => {
  leave = new AbortController();
});
const leaveAtConnection = () => silent.once('connection', () => leave.abort(LEFT));

const started = (more: Partial<StartOptions>) =>
  start({
    ...{ dataset: 'rows.jsonl', name: 'left', cwd: folder, home: join(folder, '.home'), signal: leave.signal },
    ...more,
  });

describe('a program that aborts its signal', () => {
  test.each<[string, () => Partial<StartOptions>]>([
    [
      'while the data set is read',
      () => {
        const row = JSON.stringify({ question: 'What is 1 + 1?', answer: '2', note: 'x'.repeat(2_000_000) });
        writeFileSync(join(folder, 'large.jsonl'), `${row}\n`.repeat(51));
        return { dataset: 'large.jsonl', onEvent: ({ type }: RunEvent) => type === 'reading' && leave.abort(LEFT) };
      },
    ],
    [
      'while its model does not answer',
      () => {
        leaveAtConnection();
        return { model: `openai:http://${address}/v1#m` };
      },
    ],
    [
      'while its Temporal server does not answer',
      () => {
        leaveAtConnection();
        vi.stubEnv('TEMPORAL_ADDRESS', address);
        return {};
      },
    ],
  ])('%s hears so, and no run is made', async (_, prepared) => {
    // Each of these waits would else end by itself, with an error of its own or with the run.
    await expect(started(prepared())).rejects.toBe(LEFT);
    vi.unstubAllEnvs();
    expect(existsSync(join(folder, 'runs/left'))).toBe(false);
  });

  test.each(['result', 'rollouts'] as const)('in %s() of a run whose server does not answer hears so', async (wait) => {
    await putRun(openFileStore(join(folder, 'runs'), RUN), [aQuery('a')]);
    vi.stubEnv('TEMPORAL_ADDRESS', address);
    const run = await openRun(RUN, { cwd: folder });
    leaveAtConnection();
    const { signal } = leave;
    const waiting = wait === 'result' ? run.result({ signal }) : run.rollouts({ signal }).next();
    await expect(waiting).rejects.toBe(LEFT);
    vi.unstubAllEnvs();
  });
});

import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createHome, homeAt, type Home } from '../../../local/service/home.ts';
import { lastTouchMs, touchService, untilIdle } from '../../../local/service/idle.ts';
import { startWorkflow } from './support.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const IDLE_MS = 300;

function home(): Home {
  const at = homeAt(join(testFolder(), 'home'));
  createHome(at);
  touchService(at);
  return at;
}

/** `idle`, or `in use` when it has not become so in four times the limit. */
async function verdict(at: Home, address: () => string | undefined): Promise<'idle' | 'in use'> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const idle = untilIdle(at, IDLE_MS, address, stop.signal).then(() => 'idle' as const);
  return Promise.race([idle, sleep(4 * IDLE_MS, 'in use' as const)]);
}

const server = () => inject('temporalAddress');

describe('an idle service', () => {
  test('is in use while a workflow is open, and idle after its end', async () => {
    const connection = await Connection.connect({ address: server() });
    onTestFinished(() => connection.close());
    const workflow = { namespace: 'default', workflowId: `open-${process.pid}` };
    await startWorkflow(server(), workflow.workflowId);
    const at = home();
    expect(await verdict(at, server)).toBe('in use');

    await connection.workflowService.terminateWorkflowExecution({ ...workflow, workflowExecution: workflow });
    const limit = AbortSignal.timeout(20_000);
    await untilIdle(at, IDLE_MS, server, limit);
    expect(limit.aborted).toBe(false);
    expect(Date.now() - lastTouchMs(at)).toBeGreaterThanOrEqual(IDLE_MS);
  });

  test('is in use while the last call is not long ago', async () => {
    const at = home();
    // A clock cannot be stalled by a busy machine as a caller in a loop can: the call lies ahead.
    const soon = new Date(Date.now() + 60_000);
    utimesSync(at.touchFile, soon, soon);
    expect(await verdict(at, server)).toBe('in use');
  });

  test('is in use while it is coming up, and while its server cannot be asked', async () => {
    expect(await verdict(home(), () => undefined)).toBe('in use');
    expect(await verdict(home(), () => '127.0.0.1:9')).toBe('in use');
  });
});

// Time limits of tools when the machine is at fault: a process that is stopped (SIGSTOP, as a swapped machine does) is no
// slow tool, and a server that one call ends takes no other call with it.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolSpecs } from '../../../environments/tools/describe.ts';
import type { Door } from '../../../environments/tools/index.ts';
import type { ToolRecord } from '../../../domain/tools/tool.ts';
import { mcpDoor } from '../../../environments/tools/mcp.ts';
import { moduleDoor } from '../../../environments/tools/module.ts';
import { find, toolRig } from './tool-rig.ts';

const { folder, parts, opened, listOf: listOfSpecs, call: callBy, written } = toolRig();
let keys = 0;
const call = (door: Door, tool: ToolRecord, given: object = {}, key = `k${keys++}`) => callBy(tool, given, door, key);
async function listOf(specs: Partial<ToolSpecs>, toolTimeoutSeconds: number) {
  const list = await listOfSpecs({ ...specs, toolTimeoutSeconds });
  return (name: string) => find(list, name);
}

const MODULE = `
import { spawn } from 'node:child_process';
const tool = (name, run) => ({ name, effect: 'pure', run });
const stopped = (seconds) => {
  if (seconds) spawn('sh', ['-c', 'sleep ' + seconds + '; kill -CONT ' + process.pid], { stdio: 'ignore' });
  process.kill(process.pid, 'SIGSTOP');
};
export const tools = [
  tool('freeze', async ({ seconds }, { signal }) => {
    stopped(seconds);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 'aborted: ' + signal.aborted;
  }),
  tool('loop', () => { for (;;); }),
  tool('heeds', (_, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
  tool('says', (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('half of it')))),
  tool('quick', ({ n }) => n),
];`;

const moduleTools = () => listOf({ tool: [written('still.mjs', MODULE)] }, 1);

describe('the time of a tool of a module', () => {
  test('does not go on while its process is stopped: the tool ends its work, and its signal is not aborted', async () => {
    const tool = await moduleTools();
    const door = opened(moduleDoor({ ...parts, processes: 1 }));
    // Longer than its time limit and the grace after it.
    expect(await call(door, tool('freeze'), { seconds: 5 })).toEqual({ text: 'aborted: false', outcome: 'ok' });
    expect(await call(door, tool('quick'), { n: 3 })).toEqual({ text: '3', outcome: 'ok' });
  });

  test('ends a tool that computes without a pause, and the process is free for the next call', async () => {
    const tool = await moduleTools();
    const door = opened(moduleDoor({ ...parts, processes: 1 }));
    const ended = { text: 'The tool loop gave no result in 1 s.', outcome: 'timed-out' };
    expect(await call(door, tool('loop'))).toEqual(ended);
    for (let n = 0; n < 20; n++)
      expect(await call(door, tool('quick'), { n })).toEqual({ text: `${n}`, outcome: 'ok' });
    expect(await call(door, tool('loop'))).toEqual(ended);
  });

  test('aborts its signal: what it throws then is its time limit, what it gives is its result', async () => {
    const tool = await moduleTools();
    const door = opened(moduleDoor({ ...parts, processes: 1 }));
    const text = 'The operation was aborted due to timeout';
    expect(await call(door, tool('heeds'))).toEqual({ text, outcome: 'timed-out' });
    expect(await call(door, tool('says'))).toEqual({ text: 'half of it', outcome: 'ok' });
  });
});

describe('an MCP server', () => {
  const server = (name: string) => {
    const place = join(folder, name);
    mkdirSync(place);
    return { place, mcp: [`node ${join(import.meta.dirname, 'still-server.mjs')} ${place}`] };
  };
  const startsOf = (place: string) => readFileSync(join(place, 'starts'), 'utf8').trim().split('\n').length;

  test('that was stopped for longer than the time limit gives its result afterwards; one that hangs is told', async () => {
    const tool = await listOf(server('stopped'), 1);
    const door = opened(mcpDoor(parts));
    expect(await call(door, tool('freeze'), { seconds: 4 })).toEqual({ text: 'thawed', outcome: 'ok' });
    const told = { text: 'The tool hang gave no result in 1 s.', outcome: 'timed-out' };
    expect(await call(door, tool('hang'))).toEqual(told);
  });

  test('that never goes on is a failure of ours', async () => {
    const tool = await listOf(server('still'), 1);
    const door = opened(mcpDoor({ ...parts, longestMs: () => 3_000 }));
    await expect(call(door, tool('freeze'))).rejects.toMatchObject({
      reason: 'tool-unavailable',
      retryable: true,
      message: expect.stringContaining('stood still') as string,
    });
  });

  test('that one pure call ends costs its neighbours no try, and from then on that call ends its own server alone', async () => {
    const { place, mcp } = server('crashed');
    const tool = await listOf({ mcp }, 60);
    const door = opened(mcpDoor(parts));
    const begun = async (n: number) =>
      await expect.poll(() => existsSync(join(place, `begun-${n}`)), { timeout: 60_000 }).toBe(true);
    const neighbours = [0, 1, 2].map((n) => call(door, tool('wait'), { n }));
    for (const n of [0, 1, 2]) await begun(n);
    const dies = call(door, tool('die'), {}, 'guilty').catch((error: unknown) => error);
    await expect.poll(() => startsOf(place) >= 3, { timeout: 60_000 }).toBe(true);
    writeFileSync(join(place, 'go'), '');
    expect(await dies).toMatchObject({ reason: 'tool-unavailable', retryable: true });
    expect(await Promise.all(neighbours)).toEqual([0, 1, 2].map((n) => ({ text: `waited ${n}`, outcome: 'ok' })));
    rmSync(join(place, 'go'));

    // Its further tries, as the activity makes them.
    const next = call(door, tool('wait'), { n: 3 });
    await begun(3);
    const starts = startsOf(place);
    for (let tries = 2; tries <= 5; tries++)
      await expect(call(door, tool('die'), {}, 'guilty')).rejects.toMatchObject({ reason: 'tool-unavailable' });
    expect(startsOf(place)).toBe(starts + 4);
    writeFileSync(join(place, 'go'), '');
    expect(await next).toEqual({ text: 'waited 3', outcome: 'ok' });
    expect(startsOf(place)).toBe(starts + 4);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { keepAlive, type KeptChild } from '../../../local/service/keep-alive.ts';

const ID = { pid: 1, startTime: '1' };
const NEVER = new Promise<never>(() => undefined);

/** Runs the scripted lives one after the other, then stops; to what `onEnded` was told. */
async function lives(...script: (() => Promise<KeptChild>)[]): Promise<[string, number][]> {
  const stop = new AbortController();
  const ended: [string, number][] = [];
  await keepAlive({
    signal: stop.signal,
    firstDelayMs: 1,
    start: () => {
      const life = script.shift();
      if (life) return life();
      stop.abort();
      return Promise.resolve(child({ exited: NEVER }));
    },
    onStarted: () => undefined,
    onReady: () => undefined,
    onEnded: (why, failures) => ended.push([why, failures]),
  });
  return ended;
}

function child(parts: Partial<KeptChild>): KeptChild {
  return { id: ID, ready: NEVER, exited: NEVER, stop: async () => undefined, ...parts };
}

const crashes = async () => child({ exited: Promise.resolve('crashed') });
const cannotStart = () => Promise.reject(new Error('no such file'));
const worksAWhile = async () => child({ ready: Promise.resolve(), exited: sleep(1_100, 'killed') });

describe('a supervised process', () => {
  test('counts starts that came to nothing, and forgets them once the child has worked', async () => {
    expect(await lives(crashes, cannotStart, crashes, worksAWhile, crashes)).toEqual([
      ['crashed', 1],
      ['no such file', 2],
      ['crashed', 3],
      ['killed', 0],
      ['crashed', 1],
    ]);
  });

  test('counts a child that dies right after it was ready as one that came to nothing', async () => {
    const diesAtOnce = async () => child({ ready: Promise.resolve(), exited: sleep(5, 'crashed') });
    expect(await lives(diesAtOnce, diesAtOnce)).toEqual([
      ['crashed', 1],
      ['crashed', 2],
    ]);
  });

  test('hands over the running child when told to stop', async () => {
    const stop = new AbortController();
    const running = child({});
    const onStarted = () => stop.abort();
    const left = keepAlive({
      signal: stop.signal,
      start: async () => running,
      onStarted,
      onReady: () => undefined,
      onEnded: () => undefined,
    });
    expect(await left).toBe(running);
  });

  test('starts nothing once told to stop', async () => {
    const options = { signal: AbortSignal.abort(), onStarted: () => undefined, onReady: () => undefined };
    const start = () => Promise.reject(new Error('must not start'));
    const onEnded = (why: string) => expect.fail(why);
    expect(await keepAlive({ ...options, start, onEnded })).toBeUndefined();
  });
});

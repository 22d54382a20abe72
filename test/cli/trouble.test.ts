// What a run that stands still is told to wait for.

import { expect, test } from 'vitest';
import { awaitedOf, troubleOf } from '../../cli/trouble.ts';
import type { Session } from '../../connection.ts';

interface Scene {
  readonly activity: string;
  /** 1: handed to no worker yet; 2: begun. */
  readonly state?: number;
  readonly failure?: string;
  readonly reason?: string;
  /** How long ago a worker last asked for work; none ever did where it is absent. */
  readonly pollerAgeS?: number;
}

function sessionOf({ activity, state = 1, failure, reason, pollerAgeS }: Scene): Session {
  const seconds = Math.floor(Date.now() / 1000) - (pollerAgeS ?? 0);
  const lastFailure = failure === undefined ? null : { message: failure, applicationFailureInfo: { type: reason } };
  const pendingActivities = [{ activityType: { name: activity }, state, lastFailure }];
  const client = {
    withDeadline: (_: number, call: () => unknown) => call(),
    workflow: {
      async *list() {
        yield { workflowId: 'r/q/0' };
      },
      getHandle: (id: string) => ({ describe: async () => ({ raw: id === 'r' ? {} : { pendingActivities } }) }),
    },
    workflowService: {
      describeTaskQueue: async () => ({ pollers: pollerAgeS === undefined ? [] : [{ lastAccessTime: { seconds } }] }),
    },
  };
  return { client, address: 'a', namespace: 'n', close: async () => {} } as unknown as Session;
}

test.each([
  ['evaluate', 'Programs are waiting, and no worker takes them (queue everturn-code)'],
  ['generate', 'Answers are waiting, and no worker takes them (queue everturn-generate)'],
])('work that no worker takes is named, with what to do: %s', async (activity, words) => {
  const told = await awaitedOf(sessionOf({ activity }), 'r');
  expect(told).toContain(words);
  expect(told).toContain('Start `everturn worker`');
  expect(await troubleOf(sessionOf({ activity }), 'r')).toBe(told);
});

test('a worker that has not asked for work for minutes is gone, though the server remembers it', async () => {
  expect(await awaitedOf(sessionOf({ activity: 'evaluate', pollerAgeS: 240 }), 'r')).toContain('everturn-code');
  expect(await awaitedOf(sessionOf({ activity: 'evaluate', pollerAgeS: 50 }), 'r')).toBeUndefined();
});

test.each([{ activity: 'evaluate', state: 2 }, { activity: 'log' }])('is silent about %o', async (scene) => {
  expect(await awaitedOf(sessionOf(scene), 'r')).toBeUndefined();
});

test('what is tried again and again is said with its failure, but not to who prints no foreign words', async () => {
  const scene = { activity: 'evaluate', failure: 'The \u001b[2Jdisk is full', pollerAgeS: 1 };
  expect(await troubleOf(sessionOf(scene), 'r')).toMatch(
    /^Tried again and again, evaluate of r\/q\/0: The .*disk is full/,
  );
  expect(await awaitedOf(sessionOf(scene), 'r')).toBeUndefined();
});

test('a model server that answers nobody is waited for, and not quoted to who prints no foreign words', async () => {
  const scene = { activity: 'generate', failure: 'http://m is down', reason: 'server-unreachable', pollerAgeS: 1 };
  expect(await troubleOf(sessionOf(scene), 'r')).toMatch(/^Waiting for model server, generate of .*http:\/\/m is down/);
  expect(await awaitedOf(sessionOf(scene), 'r')).toMatch(/^Waiting for model server \(server-unreachable\)/);
  expect(await awaitedOf(sessionOf({ ...scene, reason: 'disk-full' }), 'r')).toBeUndefined();
});

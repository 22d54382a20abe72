// What a run that stands still is told to wait for.

import { readdirSync, type StatsFs, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { awaitedOf, troubleOf } from '../../library/trouble.ts';
import { unwritable } from '../../records/places/writable.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { testFolder } from '../support/scratch-folder.ts';

interface Scene {
  /** Pending in the rollout; absent: none. */
  readonly activity?: string;
  /** 1: handed to no worker yet; 2: begun. */
  readonly state?: number;
  readonly failure?: string;
  readonly reason?: string;
  /** How long ago a worker began it. */
  readonly begunAgoS?: number;
  /** How long ago a worker last asked for work; none ever did where it is absent. */
  readonly pollerAgeS?: number;
  /** By workflow, the newest event first. */
  readonly histories?: Readonly<Record<string, readonly object[]>>;
}

function sessionOf({ activity, state = 1, failure, reason, pollerAgeS, begunAgoS, histories = {} }: Scene): Session {
  const seconds = Math.floor(Date.now() / 1000) - (pollerAgeS ?? 0);
  const lastStartedTime = { seconds: Math.floor(Date.now() / 1000) - (begunAgoS ?? 0) };
  const lastFailure = failure === undefined ? null : { message: failure, applicationFailureInfo: { type: reason } };
  const queues: Readonly<Record<string, string>> = { evaluate: 'code', runAgent: 'session' };
  const activityOptions = { taskQueue: { name: `everturn-${queues[activity ?? ''] ?? activity}` } };
  const pendingActivities =
    activity === undefined
      ? []
      : [{ activityType: { name: activity }, activityOptions, state, lastFailure, lastStartedTime }];
  const pendingChildren = [{ workflowId: 'r/q/0', workflowTypeName: 'rollout', initiatedId: 5 }];
  const client = {
    withDeadline: (_: number, call: () => unknown) => call(),
    workflow: {
      getHandle: (id: string) => ({
        describe: async () => ({ raw: id === 'r' ? { pendingChildren } : { pendingActivities } }),
      }),
    },
    workflowService: {
      describeTaskQueue: async () => ({ pollers: pollerAgeS === undefined ? [] : [{ lastAccessTime: { seconds } }] }),
      getWorkflowExecutionHistoryReverse: async ({ execution }: { execution: { workflowId: string } }) => ({
        history: { events: histories[execution.workflowId] ?? [] },
      }),
    },
  };
  return { client, address: 'a', namespace: 'n', close: async () => {} } as unknown as Session;
}

describe('the trouble of a run', () => {
  test.each([
    ['evaluate', 'Programs are waiting, and no worker takes them (queue everturn-code)'],
    ['generate', 'Answers are waiting, and no worker takes them (queue everturn-generate)'],
    ['runAgent', 'Sessions are waiting, and no worker takes them (queue everturn-session)'],
  ])('work that no worker takes is named, with what to do: %s', async (activity, words) => {
    const told = await awaitedOf(sessionOf({ activity }), 'r', null);
    expect(told).toContain(words);
    expect(told).toContain('Start `everturn worker`');
    expect(await troubleOf(sessionOf({ activity }), 'r', null)).toBe(told);
  });

  test('a request that takes minutes is said, with the limit after which it is sent again', async () => {
    const slow = (begunAgoS: number) => awaitedOf(sessionOf({ activity: 'generate', state: 2, begunAgoS }), 'r', null);
    expect(await slow(60)).toBeUndefined();
    expect(await slow(200)).toContain('No answer for more than 3 min');
    expect(await slow(700)).toMatch(/more than 10 min.*requestTimeoutSeconds \(3600 by default\)/);
  });

  test('what is tried again and again is said with its failure, but not to who prints no foreign words', async () => {
    const scene = { activity: 'evaluate', failure: 'The \u001b[2Jdisk is full', pollerAgeS: 1 };
    expect(await troubleOf(sessionOf(scene), 'r', null)).toMatch(
      /^Retried repeatedly, evaluate of r\/q\/0: The .*disk is full/,
    );
    expect(await awaitedOf(sessionOf(scene), 'r', null)).toBeUndefined();
  });

  test('a local activity that is retried is found in the history: the disk of a worker, which this machine can write', async () => {
    const failure = {
      message: 'cannot write /runs/r: permission denied',
      applicationFailureInfo: { type: 'no-permission' },
    };
    const events = [{ eventType: 17 }, { eventType: 25, markerRecordedEventAttributes: { failure } }];
    for (const workflowId of ['r', 'r/q/0']) {
      const session = sessionOf({ histories: { [workflowId]: events } });
      expect(await awaitedOf(session, 'r', null)).toBe('Waiting for the disk: cannot write /runs/r: permission denied');
      expect(await troubleOf(session, 'r', null)).toBe('Waiting for the disk: cannot write /runs/r: permission denied');
    }
  });

  test('a disk that keeps answers from being kept is said in the words of the worker, or of this machine', async () => {
    const told = 'cannot write /runs/r/x.json: the disk is full. Free some space; the run continues by itself.';
    const pending = {
      activityType: { name: 'generate' },
      state: 2,
      heartbeatDetails: {
        payloads: [
          {
            metadata: { encoding: Buffer.from('json/plain') },
            data: Buffer.from(JSON.stringify({ tokens: 3, waits: told })),
          },
        ],
      },
    };
    const session = sessionOf({ activity: 'generate' });
    const held = { raw: { pendingActivities: [pending] } };
    (session.client.workflow as { getHandle: unknown }).getHandle = () => ({ describe: async () => held });
    expect(await awaitedOf(session, 'r', null)).toBe(`Waiting for the disk: ${told}`);
    const folder = testFolder();
    const idle = sessionOf({ activity: 'generate', state: 2 });
    expect(await awaitedOf(idle, 'r', folder)).toBeUndefined();
    expect(await awaitedOf(idle, 'r', join(folder, 'gone'))).toBeUndefined();
    // Also no file that came and went: a reader that is killed in between would leave it.
    utimesSync(folder, 1000, 1000);
    expect(await awaitedOf(idle, 'r', folder)).toBeUndefined();
    expect([readdirSync(folder), statSync(folder).mtimeMs]).toEqual([[], 1_000_000]);
    // A file where the folder should be: nobody can write there.
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await awaitedOf(idle, 'r', file)).toMatch(/^Waiting for the disk: cannot write .*file/);
  });

  test.each([
    ['few bytes', { bavail: 15 }, 'the disk is full'],
    ['no more files', { ffree: 0 }, 'the disk is full'],
    ['a size that it does not tell', { blocks: 0, bavail: 0, files: 0, ffree: 0 }, undefined],
    ['room', {}, undefined],
  ])('a disk with %s is named without a write', async (_, given, words) => {
    const folder = testFolder();
    const room: StatsFs = { type: 0, bsize: 4096, blocks: 100, bfree: 16, bavail: 16, files: 9, ffree: 1 };
    const space = async () => ({ ...room, ...given });
    const said = await unwritable(folder, space);
    if (words === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(`cannot write ${folder}: ${words}`);
  });
});

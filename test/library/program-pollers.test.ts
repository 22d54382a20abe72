// A program that answers for a run's functions knows from the server's account of its queue whether another one does.

import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../client/temporal/connection.ts';
import { mustBeAlone, programIdentity } from '../../run/program-pollers.ts';

const MINE = '/a/home';
const alone = (identity: string, secondsAgo = 1) => {
  const seconds = Date.now() / 1000 - secondsAgo;
  const client = {
    withDeadline: async (_: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeTaskQueue: async () => ({ pollers: [{ identity, lastAccessTime: { seconds } }] }) },
  };
  return mustBeAlone({ client, namespace: 'default' } as unknown as Session, 'r1', MINE);
};
/** The identity of this process, altered. */
const altered = (from: string, to: string) => programIdentity('/another/home').replace(from, to);

describe('a program', () => {
  test.each([
    ['a living process of this machine with another home', altered('', ''), 1, /: process \d+\.$/],
    [
      'one on another machine that asked a moment ago',
      altered(`@${hostname()} `, '@other '),
      70,
      /@other, which .* 70 s ago/,
    ],
    ['anything else that asks', 'my worker', 1, /: my, which/],
  ])('is refused beside %s', async (_, identity, secondsAgo, message) => {
    await expect(alone(identity, secondsAgo)).rejects.toMatchObject({ reason: 'still-played' });
    await expect(alone(identity, secondsAgo)).rejects.toThrow(message);
  });

  test.each([
    ['one of this home, whose lock it holds', programIdentity(MINE), 1],
    ['a dead process of this machine', altered(`${process.pid}@`, '999999999@'), 1],
    ['a later process under the number of a dead one', altered(` ${programIdentity('').split(' ')[1]} `, ' 1 '), 1],
    ['one on another machine that has not asked for long', altered(`@${hostname()} `, '@other '), 100],
  ])('goes on behind %s', async (_, identity, secondsAgo) => {
    await expect(alone(identity, secondsAgo)).resolves.toBeUndefined();
  });
});

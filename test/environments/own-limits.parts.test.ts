// A module that a run brought, and that means harm to its machine: each attack is a named failure of its own call, the
// next call is served, and none of its processes stays, wherever they went.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { OwnEnvironments } from '../../environments/index.ts';
import { canConfine } from '../../environments/processes/confine.ts';
import { describeUnless } from '../support/needs.ts';
import { ownRig } from './own/own-rig.ts';
import { moveOf, NEVER, rolloutOf } from './own/rollouts.ts';

const { folder, described, open } = ownRig();
/** Stands in the arguments of each process that the module starts. */
const MARK = `${4_000_000 + process.pid}`;
const HOSTILE = `
import { spawn, spawnSync } from 'node:child_process';
const bomb = 'while :; do sleep ${MARK} & done';
export const environment = { name: 'harmful', version: '1', timeoutSeconds: 200, respond({ answer }) {
  if (answer === 'bomb') { spawnSync('sh', ['-c', bomb]); return { reward: 1 }; }
  if (answer === 'away') { spawn('setsid', ['sleep', '${MARK}'], { detached: true, stdio: 'ignore' }).unref(); process.exit(3); }
  if (answer === 'memory') { const all = []; for (;;) all.push(Buffer.alloc(64 << 20, 1)); }
  if (answer === 'reply') return { reward: 1, messages: [{ role: 'user', content: 'x'.repeat(60_000_000) }] };
  return { reward: 1 };
} };
`;

let record: EnvironmentRecord;
let own: OwnEnvironments;
beforeAll(async () => {
  writeFileSync(join(folder, 'harmful.mjs'), HOSTILE);
  record = await described('./harmful.mjs', folder);
  own = open({ processes: 2 });
});

const say = (answer: string) =>
  own.open(record, folder).respond(moveOf(rolloutOf(record, {}), answer), { signal: NEVER });
const running = (): number =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 1 << 28 }).split(`sleep ${MARK}`).length - 1;
async function noneIsLeft(): Promise<void> {
  for (let n = 0; n < 400 && running() > 0; n++) await sleep(50);
  expect(running()).toBe(0);
}

describeUnless(canConfine() ? undefined : 'no bubblewrap runs here')('a module that a run brought', () => {
  test('and that is a fork bomb ends by name, with all of its processes, and nobody else waits', async () => {
    const bomb = say('bomb');
    bomb.catch(() => undefined);
    for (let n = 0; n < 5; n++) expect(await say('fine')).toMatchObject({ reward: 1 });
    await expect(bomb).rejects.toMatchObject({ reason: 'environment-too-many-processes', retryable: false });
    await noneIsLeft();
    expect(await say('fine')).toMatchObject({ reward: 1 });
  }, 600_000);

  test('leaves no process behind, not even one in a session of its own', async () => {
    await expect(say('away')).rejects.toMatchObject({ reason: 'environment-exited' });
    await noneIsLeft();
  }, 60_000);

  test('cannot take the memory of the machine, and its reply has a limit', async () => {
    await expect(say('memory')).rejects.toMatchObject({
      reason: expect.stringMatching(/^environment-(exited|error)$/),
    });
    await expect(say('reply')).rejects.toMatchObject({ reason: 'environment-too-large' });
    expect(await say('fine')).toMatchObject({ reward: 1 });
  }, 600_000);
});

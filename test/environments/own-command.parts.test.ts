// Commands as environments, honest and hostile: each breach is a named failure, costs nobody else anything, and leaves
// no process behind.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { EnvironmentError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { OwnEnvironments } from '../../environments/index.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { ownRig } from './own/own-rig.ts';
import { moveOf, NEVER, rolloutOf } from './own/rollouts.ts';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';

const HOSTILE = join(import.meta.dirname, 'own/hostile.py');
const { described, open } = ownRig();
let record: EnvironmentRecord;
let own: OwnEnvironments;
beforeAll(async () => {
  if (NO_PYTHON) return;
  record = await described(`python3 ${HOSTILE}`);
  own = open({ processes: 2 });
});

const respond = (row: JsonObject, query = 'q') =>
  own.open(record, '/runs/r').respond(moveOf(rolloutOf(record, row, query), '4'), { signal: NEVER });
const failure = (row: JsonObject) =>
  respond(row).then(
    (reply) => ({ reason: JSON.stringify(reply), message: '' }),
    ({ reason, message, retryable }: EnvironmentError) => ({ reason, message, retryable }),
  );

describeUnless(NO_PYTHON)('a command as environment', () => {
  test('is described once: its name, its version and a hash of its files', async () => {
    expect(record).toMatchObject({ name: 'hostile', version: '1', door: 'command', state: 'none', timeoutSeconds: 3 });
    expect(record.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect((await described(`python3 ${HOSTILE}`)).fingerprint).toBe(record.fingerprint);
    expect(await respond({ how: 'fine' })).toEqual({ verdict: { verdict: 'right', reason: 'environment' } });
  });

  test.each([
    ['hang', 'environment-timeout', true],
    ['exit', 'environment-exited', true],
    ['half', 'environment-exited', true],
    ['huge', 'environment-too-large', null],
    ['nan', 'environment-broken', null],
    ['text', 'environment-broken', null],
    ['error', 'environment-error', false],
    ['other-id', 'environment-broken', null],
    ['surrogate', 'environment-broken', false],
    ['deep', 'environment-broken', null],
  ])(
    'that breaks the contract (%s) fails that call by name, and the next one is served',
    async (how, reason, again) => {
      const failed = await failure({ how });
      // Of a process that has replied to others, the fault may be theirs.
      expect(failed).toMatchObject({ reason, ...(again !== null && { retryable: again }) });
      expect(failed.message).not.toMatch(/[\u0000-\u001f]/);
      expect(await respond({ how: 'fine' })).toMatchObject({ verdict: { verdict: 'right' } });
    },
  );

  test('that raises an exception leaves the end of its traceback, short, and steering no terminal', async () => {
    const error = await respond({ how: 'raise' }).catch((one: EnvironmentError) => one);
    const { reason, trace = '' } = error as EnvironmentError;
    expect(reason).toBe('environment-exited');
    expect(trace).toMatch(
      /File ".*hostile\.py", line \d+, in <module>\n +raise ValueError.*\nValueError: .*31m red x+…$/s,
    );
    expect(trace).not.toMatch(/[\u0000-\u0009\u000b-\u001f]|.{171}/);
  });

  test('that writes without being asked loses its process, and no reply goes to another call', async () => {
    expect(await respond({ how: 'twice' })).toMatchObject({ verdict: { verdict: 'right' } });
    // Its second line may come while the next call is asked: then that one is tried again, elsewhere.
    let tries = 0;
    for (let served = 0; served < 4; tries++) {
      const found = await failure({ how: 'fine' });
      if (found.reason === '{"verdict":{"verdict":"right","reason":"environment"}}') served++;
      else expect(found).toMatchObject({ retryable: true });
    }
    expect(tries).toBeLessThan(6);
  });

  test('that hangs holds up nobody else', async () => {
    const hung = failure({ how: 'hang' });
    for (let n = 0; n < 20; n++) expect(await respond({ how: 'fine' }, `q${n}`)).toMatchObject({ verdict: {} });
    expect((await hung).reason).toBe('environment-timeout');
  });

  test('leaves no process behind, not even those that its own started', async () => {
    const seconds = `${3_000_000 + process.pid}`;
    await failure({ how: 'sleeper', seconds });
    const running = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(`sleep ${seconds}`);
    for (let n = 0; n < 200 && running(); n++) await sleep(50);
    expect(running()).toBe(false);
  });

  test.each([
    [{ reward: 0.25 }, { reward: 0.25, done: true }],
    [{ reward: { a: 0.5, b: -1 } }, { reward: -0.5, rewards: { a: 0.5, b: -1 }, done: true }],
    [
      { verdict: 'wrong', reward: 0 },
      { verdict: { verdict: 'wrong', reason: 'environment' }, reward: 0 },
    ],
    [
      { messages: [{ role: 'user', content: 'On.' }], metrics: { n: 2 } },
      { messages: [{ role: 'user', content: 'On.' }], metrics: { n: 2 } },
    ],
    [{ verdict: 'undecided', done: false }, { verdict: { verdict: 'undecided', reason: 'environment' } }],
    [{ done: true }, { done: true }],
  ] as readonly (readonly [JsonObject, object])[])('that replies %j means %j', async (reply, meaning) => {
    expect(await respond({ how: 'reply', reply })).toEqual(meaning);
  });

  test.each([
    [`python3 ${HOSTILE} --no-hello`, 'environment-broken', 'Loading weights'],
    [`python3 ${HOSTILE} --exit`, 'environment-unloadable', 'exit code 1'],
    ['no-such-program-here --x', 'environment-unloadable', 'was not found'],
  ])('that does not load is refused at start: %s', async (text, reason, says) => {
    const refused = await described(text).catch((error: unknown) => error as EnvironmentError);
    expect(refused).toMatchObject({ reason });
    expect((refused as Error).message).toContain(says);
  });

  test.each([
    ['./no-such-file.py', 'is no file'],
    ['./no-such-module.ts', 'is no file'],
    ['python3', 'neither a file nor a command'],
    ['ftp://x/y', 'is no address'],
    ['https://me:secret@x/y', 'holds a password'],
    ['python3 "x.py', 'opens a quote'],
    ['python3 x.py | tee log', 'no shell reads it'],
    ['.', 'is a folder'],
  ])('that cannot be one is refused with the reason: %s', (text, says) => {
    const refused = () => parseSpec(text, import.meta.dirname);
    expect(refused).toThrow(says);
    expect(refused).not.toThrow('secret');
  });

  test.each(['pipe', 'pipe.py', 'pipe.ts', 'rubric:pipe.json'])('that is a pipe is refused as one: %s', (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'pipe-'));
    execFileSync('mkfifo', [join(folder, text.replace('rubric:', ''))]);
    expect(() => parseSpec(text, folder)).toThrow('is a pipe');
    rmSync(folder, { recursive: true });
  });

  test('that changes under a run is another one, and is not used for it', async () => {
    const other = { ...record, fingerprint: 'f'.repeat(64) };
    const asked = own.open(other, '/runs/r').respond(moveOf(rolloutOf(other, {}), '4'), { signal: NEVER });
    await expect(asked).rejects.toMatchObject({ reason: 'environment-mismatch', retryable: false });
  });
});

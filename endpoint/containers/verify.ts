// The reward of a task: its tests are copied into the container after the agent has ended, and run there, without the model's key.
// What they write is the reward. Without a reward that can be read, the rollout is undecided: never 0.

import { join } from 'node:path';
import { type HarborTask, type LastWords, parseLastWords, type Verified } from '../../domain/agent/index.ts';
import { explain } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { headAndTail } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';
import { MAX_BYTES, type Ran, ranCommand } from './command.ts';
import type { Container, ContainerUser } from './container.ts';

export interface Verdict {
  /** Empty if it is undecided. */
  readonly said: LastWords;
  readonly verified: Verified;
}

/** A link that the agent left would lead the tests elsewhere. */
const CLEARED = `for one in /logs /tests; do if [ -L "$one" ]; then rm -f "$one"; fi; done
rm -rf /logs/verifier /tests && mkdir -p /logs/verifier /tests && chmod 777 /logs/verifier /tests`;
const TESTS = 'chmod +x /tests/test.sh; /tests/test.sh >/logs/verifier/test-stdout.txt 2>&1';
const SEEN = 'tail -c 2000 /logs/verifier/test-stdout.txt 2>/dev/null';
const SECONDS = 60;
const NOTE_CHARS = 2_000;

/** Undefined: a signal ended the tests. */
export async function verify(
  container: Container,
  { task, directory, signal }: { readonly task: HarborTask; readonly directory: string; readonly signal: AbortSignal },
): Promise<Verdict | undefined> {
  const inside = (as: ContainerUser, script: string, seconds: number, folder?: string): Promise<Ran> =>
    ranCommand([...container.words(as, folder), 'sh', '-c', script], { seconds, signal });
  const image = container.image === undefined ? {} : { image: container.image };
  const undecided = (reason: string, note: string): Verdict => ({
    said: {},
    verified: { undecided: reason, ...(note !== '' && { note: headAndTail(note, NOTE_CHARS) }), ...image },
  });
  try {
    const cleared = await inside('root', CLEARED, SECONDS, '/');
    if (cleared.code !== 0) return undecided('verifier-not-run', cleared.stderr);
    await container.putTests(join(directory, 'tests'));
  } catch (error) {
    signal.throwIfAborted();
    return undecided('verifier-not-run', explain(error));
  }
  const tested = await inside('verifier', TESTS, task.verifier_timeout_sec);
  if (tested.isLate)
    return undecided('verifier-timeout', `The tests did not end in ${task.verifier_timeout_sec} s. ${await seen()}`);
  if (tested.code === null) return undefined;
  for (const file of FILES) {
    const { code, stdout, isLate } = await inside(
      'verifier',
      `[ -f /logs/verifier/${file} ] && cat /logs/verifier/${file}`,
      SECONDS,
      '/',
    );
    if (Buffer.byteLength(stdout) >= MAX_BYTES)
      return undecided('bad-reward-file', `${file} is larger than ${MAX_BYTES / 2 ** 20} MiB`);
    if (isLate) return undecided('bad-reward-file', `${file} was not read in ${SECONDS} s`);
    if (code === null) return undefined;
    if (code !== 0) continue;
    const read = rewardIn(file, stdout);
    return 'problem' in read
      ? undecided('bad-reward-file', `${file} ${read.problem}`)
      : { said: read.said, verified: image };
  }
  return undecided('no-reward-file', `The tests ended with exit code ${tested.code}. ${tested.stderr}${await seen()}`);

  async function seen(): Promise<string> {
    return (await inside('root', SEEN, SECONDS, '/')).stdout;
  }
}

const FILES = ['reward.json', 'reward.txt'] as const;

/** As Harbor reads it: one number; or an object of numbers, whose `reward`, or whose only one, is the reward. */
export function rewardIn(file: (typeof FILES)[number], text: string): ReturnType<typeof parseLastWords> {
  if (text.trim() === '') return { problem: 'is empty' };
  if (file === 'reward.txt') return /^[\s\d.eE+-]+$/.test(text) ? parseLastWords({ reward: Number(text) }) : noNumber;
  try {
    const value = strictJson(text);
    if (!isObject(value)) return parseLastWords({ reward: value });
    const { reward = soleOf(value), ...rewards } = value;
    if (reward === undefined) return { problem: 'has no "reward" beside its numbers: right would be {"reward": 0.5}' };
    return parseLastWords(Object.hasOwn(value, 'reward') ? { reward, rewards } : { reward });
  } catch (error) {
    return { problem: error instanceof DoubtfulJson ? error.message : 'is no JSON' };
  }
}

const noNumber = { problem: 'holds no number' };

function soleOf(value: Readonly<Record<string, unknown>>): unknown {
  const all = Object.values(value);
  return all.length === 1 ? all[0] : undefined;
}

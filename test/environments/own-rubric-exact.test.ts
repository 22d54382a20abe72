// A rubric that asks the exact judge first: the model, a scripted server, decides only about what that judge cannot show equal.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JudgeError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { createOwnEnvironments, describeEnvironment } from '../../environments/own/own-environments.ts';
import { readRubric } from '../../environments/own/rubric/rubric.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { putCode } from '../../records/run/code.ts';
import { answerOf, type JudgeServer, markOf, serveJudge } from './own/judge-server.ts';
import { moveOf, NEVER, rolloutOf } from './own/rollouts.ts';

const FREE = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../examples/environments/free-text.json'), 'utf8'),
) as object;
const folder = mkdtempSync(join(tmpdir(), 'everturn-exact-'));
const own = createOwnEnvironments({ log: () => undefined, permitted: ({ spec }) => spec });
let judge: JudgeServer;
beforeAll(async () => void (judge = await serveJudge(() => null)));
afterAll(async () => {
  await judge.close();
  await own.close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
function rubricFile(changes: object): string {
  const file = join(folder, `rubric-${files++}.json`);
  writeFileSync(file, JSON.stringify({ ...FREE, server: judge.url, ...changes }));
  return file;
}

describe('a rubric that asks the exact judge first', () => {
  let before: number;
  const calls = () => judge.asked.length - before;
  async function respond(answer: string, row: JsonObject = { answer: '42' }, cut = false, from = own) {
    const { record, code } = await describeEnvironment(parseSpec(`rubric:${rubricFile({})}`, '/'), () => undefined);
    await putCode(folder, code!);
    const rollout = rolloutOf(record, { question: 'Which number?', ...row });
    return from.open(record, folder).respond(moveOf(rollout, answer, [], cut), { signal: NEVER });
  }
  beforeEach(() => {
    before = judge.asked.length;
    judge.fault = undefined;
    judge.reply = (one) => `${markOf(one)} ${answerOf(one).includes('zweiundvierzig') ? 'same' : 'other'}`;
  });

  test('calls no model for what that judge shows equal to any reference, and records its reason', async () => {
    expect(await respond('So it is \\boxed{84/2}.')).toEqual({
      verdict: { verdict: 'right', reason: 'equal', extracted: '84/2' },
      reward: 1,
    });
    const row = { solutions: ['It is \\boxed{41}.', 'It is \\boxed{42}.'], answer: null };
    expect(await respond('\\boxed{42}', row)).toMatchObject({ verdict: { reason: 'equal-text' } });
    expect(calls()).toBe(0);
  });

  test.each<[string, string, 'right' | 'wrong', string, JsonObject?, boolean?]>([
    ['says it in other words', 'It is \\boxed{zweiundvierzig}', 'right', 'different'],
    ['has another value', 'It is \\boxed{41}, not einundvierzig.', 'wrong', 'different'],
    ['has no final answer', 'Wir erhalten nach allem, wie gesagt, doch noch zweiundvierzig.', 'right', 'no-answer'],
    ['is empty', '', 'wrong', 'no-answer'],
    ['a limit has cut', 'So far it is 42', 'wrong', 'cut-off', { answer: '42' }, true],
    ['has a broken reference', 'Ja, zweiundvierzig.', 'right', 'solution-unreadable', { answer: '\\frac{1}{' }],
    ['has no reference', 'Ja, zweiundvierzig.', 'right', 'no-solution', { answer: null }],
  ])('lets the model decide once about an answer that %s: %j is %s', async (_, answer, verdict, exact, row, cut) => {
    expect(await respond(answer, row, cut)).toMatchObject({
      verdict: { verdict, reason: 'rubric' },
      reward: verdict === 'right' ? 1 : 0,
      judged: { model: 'Qwen/Qwen3-8B', exact },
    });
    expect(calls()).toBe(1);
  });

  test('leaves undecided, never wrong, what the exact judge calls different while the model is away', async () => {
    judge.fault = (response) => void response.writeHead(503).end('away');
    await expect(respond('41')).rejects.toMatchObject({ reason: 'judge-unreachable', retryable: true });
    expect((await respond('42')).verdict).toMatchObject({ verdict: 'right' });
  });

  test('asks no model where the exact judge is broken: that is tried again', async () => {
    const failed = new JudgeError('no process', { reason: 'judge-process', retryable: true });
    const math = { judge: () => Promise.reject(failed), close: async () => undefined };
    const broken = createOwnEnvironments({ log: () => undefined, permitted: ({ spec }) => spec, math });
    await expect(respond('42', undefined, false, broken)).rejects.toBe(failed);
    expect(calls()).toBe(0);
  });

  test.each([
    [{ exactFirst: 'yes' }, '`exactFirst` takes true or false'],
    [{ exact_first: true }, 'it has the unknown field `exact_first`'],
    [
      {
        exactFirst: true,
        choices: [
          { choice: 'a', verdict: 'wrong' },
          { choice: 'b', reward: 1 },
        ],
        examples: [],
      },
      'exactly one choice',
    ],
    [{ exactFirst: true, reference: null }, 'needs a `reference`'],
  ])('is refused by field: %j', (changes, problem) => {
    const file = rubricFile(changes);
    expect(() => readRubric(file, readFileSync(file, 'utf8'))).toThrow(problem);
  });
});

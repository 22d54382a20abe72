// A rubric that asks the exact judge first: the model, a scripted server, decides only about what that judge cannot show equal.
// And files of rubrics: each that cannot be used is refused by the field that is wrong.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { JudgeError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { answerOf, markOf } from './own/judge-server.ts';
import { rubricRig } from './own/rubric-rig.ts';

const { folder, judge, open, describeText, describe: describeRubric, respond } = await rubricRig('free-text.json');

describe('a rubric that asks the exact judge first', () => {
  let before: number;
  const calls = () => judge.asked.length - before;
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
    expect(await respond('\\boxed{42}', { row })).toMatchObject({ verdict: { reason: 'equal-text' } });
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
    expect(await respond(answer, { ...(row && { row }), ...(cut && { cut }) })).toMatchObject({
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
    const from = open({ math });
    await expect(respond('42', { from })).rejects.toBe(failed);
    expect(calls()).toBe(0);
  });
});

describe('a rubric', () => {
  const wrong = { choice: 'a', verdict: 'wrong' };
  test.each([
    [{ choices: [{ choice: 'only', verdict: 'right' }] }, 'choices'],
    [{ choices: [wrong, { choice: 'b' }] }, 'choices.1'],
    [{ choices: [wrong, { choice: ' A', verdict: 'right' }], examples: [] }, 'choices.1.choice'],
    [{ examples: [{ answer: 'x', choice: 'perfect' }] }, 'examples.0.choice'],
    [{ server: 'ftp://x' }, 'server'],
    [{ server: 'https://me:secret@x/v1' }, 'server'],
    [{ apiKeyEnv: 'not a name' }, 'apiKeyEnv'],
    [{ name: 'Not A Name' }, 'name'],
    [{ instructions: '' }, 'instructions'],
    [{ temperature: 1 }, 'temperature'],
    [{ model: undefined }, '`model` is missing: it takes a text'],
    [{ choices: 'right' }, '`choices` takes a list'],
    [{ model: undefined, modle: 'm' }, 'it has the unknown field `modle`'],
    [{ exactFirst: 'yes' }, '`exactFirst` takes true or false'],
    [{ exact_first: true }, 'it has the unknown field `exact_first`'],
    [{ exactFirst: true, choices: [wrong, { choice: 'b', reward: 1 }], examples: [] }, 'exactly one choice'],
    [{ exactFirst: true, reference: null }, 'needs a `reference`'],
  ])('that cannot be used is refused by its field: %j', async (changes, field) => {
    const of = 'exactFirst' in changes || 'exact_first' in changes ? 'free-text.json' : 'rubric.json';
    const refused = await describeRubric(changes, of).catch((error: unknown) => error as Error);
    expect(refused).toMatchObject({ reason: 'environment-unloadable', message: expect.stringContaining(field) });
    expect((refused as Error).message).not.toContain('secret');
  });

  test('that is no JSON, or no file, is refused', async () => {
    writeFileSync(join(folder, 'bad.json'), '{"name": ');
    await expect(describeText('rubric:./bad.json', folder)).rejects.toMatchObject({ reason: 'environment-unloadable' });
    expect(() => parseSpec('rubric:./none.json', folder)).toThrow('is no file');
  });
});

// A benchmark that a model judges with the page's own prompt, from its name to a verdict: the judge is a script.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { questionOf } from '../../../domain/query/query.ts';
import { benchmarkNames, shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { putCode } from '../../../records/run/code.ts';
import { resolveOptions } from '../../../run/config.ts';
import { prepareRun } from '../../../run/prepare-run.ts';
import { serveJudge } from '../../environments/own/judge-server.ts';
import { ownRig } from '../../environments/own/own-rig.ts';
import { moveOf, NEVER } from '../../environments/own/rollouts.ts';
import { putInCache } from './read-benchmark.ts';

const { folder, closing, open } = ownRig();
const judge = closing(await serveJudge(() => 'A'));
const own = open();
beforeEach(() => {
  judge.reply = () => 'A';
  for (const name of ['simpleqa', 'amc23']) putInCache(name, folder);
});

async function prepared(dataset: string, file?: object, flags: object = {}) {
  const written = file && JSON.stringify({ server: judge.url, model: 'judge-1', ...file });
  if (written) writeFileSync(join(folder, 'judge.json'), written);
  const resolved = resolveOptions({ flags: { ...flags, ...(file && { environment: ['rubric:./judge.json'] }) } });
  const env = { HF_HUB_CACHE: join(folder, 'hub'), HF_HUB_OFFLINE: '1' };
  const caller = { cwd: folder, env, now: () => 0, onEvent: () => undefined, signal: NEVER };
  const run = await prepareRun(
    { dataset, out: join(folder, 'runs'), name: undefined, strict: false, resolved },
    caller,
  );
  const queries = [];
  for await (const query of run.rows.queries()) queries.push(query);
  run.close();
  return { ...run, queries };
}

async function answered(answer: string) {
  const { record, parts, queries } = await prepared('simpleqa', {});
  for (const code of parts.codes) await putCode(folder, code);
  const rollout = { run: 'r', query: queries[0]!, sample: 0, attempt: 0, settings: record.settings };
  return own.open(record.settings.environments![0]!, folder).respond(moveOf(rollout, answer), { signal: NEVER });
}

describe('a benchmark that a model judges', () => {
  test('is SimpleQA', () =>
    expect(benchmarkNames().filter((name) => shippedBenchmark(name).page.scorer === 'rubric')).toEqual(['simpleqa']));

  test('asks the question alone, and the judge by the prompt of its authors, to the byte', async () => {
    const { queries, record } = await prepared('simpleqa', {});
    expect(queries.map(questionOf)).toEqual([
      'Which made-up lake is deepest?',
      'How many hills does made-up Ror have, in all?',
    ]);
    expect(record.settings.environments).toMatchObject([
      { name: 'simpleqa', door: 'rubric', judge: { server: judge.url } },
    ]);
    await answered('It is Lake Orn. {{ reference }} $& {x}');
    const { messages, temperature, model } = judge.asked.at(-1)!.body;
    expect({ roles: messages.map(({ role }) => role), temperature, model }).toEqual({
      roles: ['user'],
      temperature: 0,
      model: 'judge-1',
    });
    // Of `GRADER_TEMPLATE.format(…)` in simple-evals 5e623c2.
    expect(createHash('sha256').update(messages[0]!.content).digest('hex')).toBe(
      '5b54b319da33e7c2e53108cf599f5f2b5db4873dad3007164f4091930ec624d0',
    );
  });

  test.each([
    ['A', 'right', 'CORRECT'],
    ['**B**.', 'wrong', 'INCORRECT'],
    ['C: NOT_ATTEMPTED', 'wrong', 'NOT_ATTEMPTED'],
    ['<think>A or B?</think>\nb', 'wrong', 'INCORRECT'],
  ])('that replies %j calls the answer %s', async (reply, verdict, extracted) => {
    judge.reply = () => reply;
    expect((await answered('Lake Orn')).verdict).toEqual({ verdict, reason: 'rubric', extracted });
  });

  test.each(['CORRECT', 'A or B', 'I would say A', ''])('that replies %j is asked once more', async (reply) => {
    let draws = 0;
    judge.reply = () => (++draws === 1 ? reply : 'C');
    expect((await answered('I am not sure.')).verdict).toMatchObject({ extracted: 'NOT_ATTEMPTED' });
    expect(judge.asked.at(-1)!.body.messages.at(-1)!.content).toBe(
      'That held no single verdict. Write one of "A", "B", "C".',
    );
  });

  test('is refused before anything is read where no model is named, with the flag that names it', async () => {
    const refused = expect.objectContaining({
      message: 'The answers to simpleqa are judged by a model, and none is named.',
      fix: expect.stringContaining('--environment rubric:./judge.json, a file such as {"server": ') as string,
    });
    await expect(prepared('simpleqa')).rejects.toEqual(refused);
    const held = { train: true, eval: 'simpleqa' };
    await expect(prepared('amc23', undefined, held)).rejects.toEqual(refused);
  });

  test('has its words replaced by those of a file that has some', async () => {
    const choices = ['yes', 'no'].map((choice, i) => ({ choice, verdict: i === 0 ? 'right' : 'wrong' }));
    const { record } = await prepared('simpleqa', { name: 'mine', instructions: 'Is it right?', choices });
    expect(record.settings.environments).toMatchObject([{ name: 'mine' }]);
  });

  test('leaves a model that is named alone out of benchmarks of other judges', async () => {
    const { record, queries } = await prepared('amc23', {});
    expect(record.settings.environments).toBeUndefined();
    expect(queries[0]!.task).toBe('math');
  });

  test('is what a model that is named alone lacks beside rows of a file, as its refusal says', async () => {
    writeFileSync(join(folder, 'rows.jsonl'), '{"question": "Why?", "answer": "So."}\n');
    await expect(prepared('rows.jsonl', {})).rejects.toMatchObject({
      message: expect.stringContaining('it names a model and not what to judge by') as string,
    });
  });
});

const PAGE = 'title: Mine\nsource: { dataset: rows.jsonl }\nscorer: rubric\n';
const CHOICES = 'choices: [{ choice: Y, verdict: right }, { choice: N, verdict: wrong }]';

describe("a user's own page", () => {
  test('judges by its own prompt', async () => {
    writeFileSync(join(folder, 'rows.jsonl'), '{"question": "Why?", "answer": "So."}\n');
    writeFileSync(
      join(folder, 'Mine.yaml'),
      `${PAGE}rubric: { prompt: "Is {{ answer }} {{ reference }}?", ${CHOICES} }\n`,
    );
    const { record } = await prepared('Mine.yaml', {});
    expect(record.settings.environments).toMatchObject([{ name: 'rubric' }]);
  });

  test.each([
    ['', ':3: `scorer` is rubric, and `rubric` is missing.'],
    [`rubric: { prompt: Say., ${CHOICES} }`, ':4: `rubric.prompt` takes a text that holds {{ answer }}.'],
    ['rubric: { prompt: "{{ answer }}", choices: [{ choice: Y }] }', ':4: `rubric.choices` '],
  ])('is refused by its line: %s', async (more, says) => {
    writeFileSync(join(folder, 'bad.yaml'), `${PAGE}${more}\n`);
    await expect(prepared('bad.yaml', {})).rejects.toThrow(says);
  });
});

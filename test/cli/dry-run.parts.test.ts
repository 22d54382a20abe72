// `run --dry-run` says what a run would take, and leaves nothing behind.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Plan, planOf } from '../../cli/view/plan-text.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

const ROWS = [
  { id: 'a', question: 'What is 1 + 1?', answer: '2' },
  { id: 'b', question: 'What is 2 + 2?', answer: '4' },
  { id: 'c', question: 'What is 3 + 3?' },
];

const run = (...args: string[]) => played(ROWS, ...args);

async function played(rows: readonly object[], ...args: string[]) {
  writeFileSync(join(cwd, 'data.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return call(cwd, ['run', 'data.jsonl', '--dry-run', ...args], { PATH: process.env['PATH'] });
}

describe('run --dry-run', () => {
  test('warns of held-out problems that are trained on too, whatever their names', async () => {
    const held = [
      { id: 'h1', question: 'What is 9 + 9?', answer: '18' },
      { ...ROWS[1], id: 'h2' },
    ];
    writeFileSync(join(cwd, 'held.jsonl'), held.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { code, err } = await run('--train', '--eval', 'held.jsonl');
    expect(code).toBe(0);
    expect(err).toContain('Warning: 1 held-out problem is trained on too, and will look better than new ones: h2\n');
    writeFileSync(join(cwd, 'held.jsonl'), `${JSON.stringify(held[0])}\n`);
    expect((await run('--train', '--eval', 'held.jsonl')).err).not.toContain('Warning');
  });

  test('counts rows, rollouts, calls and tokens, shows the first prompt, and writes nothing', async () => {
    const { code, out } = await run('--samples', '3', '--num-turns', '2', '--max-new-tokens', '10', '--json');
    const plan = JSON.parse(out.trim().split('\n').at(-1)!) as Plan & {
      readonly prompt: { readonly text: string; readonly ids: number[] };
      readonly origins: Readonly<Record<string, string>>;
    };
    expect(code).toBe(0);
    expect(plan).toMatchObject({
      queries: 2,
      refused: 1,
      rollouts: 6,
      calls: 12,
      outputTokens: 120,
      limitedByContext: false,
      files: 18,
    });
    expect(plan.prompt.text).toContain('What is 1 + 1?');
    expect(plan.prompt.ids.length).toBe(Math.min(plan.promptTokens!.most, plan.prompt.ids.length));
    expect(plan.origins).toMatchObject({ samples: 'flag', temperature: 'default' });
    expect(readdirSync(cwd)).toEqual(['data.jsonl']);
  });

  test('counts the calls that an agent may make, in as many contexts', async () => {
    const { out } = await run('--agent', 'sh -c true', '--max-calls', '7', '--max-new-tokens', '10', '--json');
    expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
      ...{ rollouts: 3, calls: 21, outputTokens: 210 },
      ...{ options: { agent: 'sh -c true' }, origins: { agent: 'flag' } },
    });
    const { out: text } = await run('--agent', 'sh -c true', '--max-calls', '7');
    expect(text).toContain('as a prompt; the agent writes its own:');
    expect(text).toContain('of at most 7 calls\n');
    expect(text).toContain('1,000 tokens a call');
    expect(text).toContain('agent = "sh -c true" (flag)');
    expect(text).not.toMatch(/\bturns?\b/);
  });

  test('refuses a side model that has the name of the run’s own, for whatever model', async () => {
    const { code, err } = await run('--agent', 'sh -c true', '--side-model', 'tiny=openai:http://127.0.0.1:9');
    expect([code, err]).toEqual([2, expect.stringContaining("--side-model tiny has the name of the run's own model")]);
  });

  test('puts the words of --system and --prompt around each row, and names the run by them', async () => {
    writeFileSync(join(cwd, 'brief.txt'), 'Answer with one number.\n');
    const template = 'Task {{ id }}: {{ question }}{% if hint %} ({{ hint }}){% endif %}';
    const words = ['--system', 'brief.txt', '--prompt', template, '--json'];
    const planned = async (...args: string[]) => {
      const { out } = await run(...args);
      return JSON.parse(out.trim().split('\n').at(-1)!) as { readonly run: string; readonly prompt: { text: string } };
    };
    const [plain, worded] = [await planned('--json'), await planned(...words)];
    expect(worded.prompt.text).toMatch(/Answer with one number\.(?!\n\n)[^]*Task a: What is 1 \+ 1\?(?! \()/);
    expect(worded.run).not.toBe(plain.run);
  });

  test.each([
    [6, '--prompt', '{{ qestion }}', '`qestion` is missing, and the prompt template prints it'],
    [2, '--prompt', '{{ question', ''],
    [2, '--system', 'none.txt', ''],
    [2, '--extra-body', '{"a":1}', 'only openai: endpoints'],
    [2, '--extra-body', '{"model":"x"}', ''],
  ])('ends with %i for %s %s', async (wanted, flag, value, said) => {
    const { code, err } = await run(flag, value);
    expect([code, err]).toEqual([wanted, expect.stringContaining(said)]);
  });

  test('says how many reference answers are names or sentences, and that a model judges them', async () => {
    const rows = [
      { question: 'What is the capital of France?', answer: 'Paris' },
      { question: 'Which ones?', solutions: ['Alice and Bob', 'Bob and Alice'] },
      { question: 'Which one?', choices: ['Paris', 'London'], answer: 'Paris' },
      { question: 'What is 1 + 1?', answer: '2' },
      { question: 'Why?', answer: 'Because air scatters short waves of light more than long ones' },
      { question: 'What is the capital?', answer: 'The capital of France is Paris.' },
      { question: 'Who?', solution: 'Albert Einstein and Niels Bohr' },
    ];
    const words =
      '5 of 7 reference answers are names or sentences, 3 compared as texts, 2 left out: `--environment rubric:';
    const { out, err } = await played(rows, '--json');
    expect(err).toContain(words);
    expect(err).toMatch(/data\.jsonl:5: .* a model judges answers in words: --environment rubric:/);
    expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
      queries: 5,
      refused: 2,
      inWords: { compared: 3, leftOut: 2 },
    });
    expect((await run()).err).not.toContain('names or sentences');
    // It judges itself.
    writeFileSync(join(cwd, 'agent.mjs'), '');
    const own = await played(rows, '--agent', 'node agent.mjs');
    expect([own.code, own.err]).toEqual([0, expect.not.stringContaining('names')]);
  });

  test('prints the same for people', async () => {
    const { out } = await run('--samples', '3');
    expect(out).toContain('2 queries, 1 bad row left out');
    expect(out).toContain('Settings   samples = 3 (flag)');
    expect(out).toContain('What is 1 + 1?');
  });

  test('fails as the run would: a server that is away, a data set that is not there', async () => {
    expect((await run('--model', 'vllm:http://127.0.0.1:1')).code).toBe(5);
    expect((await run('--strict')).code).toBe(6);
    const { code, err } = await run('--tool', 'python');
    expect([code, err]).toEqual([5, expect.stringContaining('no format of tool calls') as string]);
  });
});

describe('a plan', () => {
  const options = { samples: 1, epochs: 1, numTurns: 5, maxNewTokens: 16_384, newTokensPerChunk: null };
  const input = { queries: 10, refused: 0, options, contextLength: null, promptTokens: null };

  test('is limited by the context where that is shorter than all answers', () => {
    expect(planOf(input)).toMatchObject({ outputTokens: 10 * 5 * 16_384, limitedByContext: false });
    const promptTokens = { mean: 100, most: 200, of: 10 };
    expect(planOf({ ...input, contextLength: 4096, promptTokens })).toMatchObject({
      outputTokens: 10 * 3996,
      limitedByContext: true,
    });
  });
});

// The built command line evaluates several models on several data sets in one command: one table, cells that are refused by
// themselves, failed rollouts played again by the same command, gates, and the same from a program.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { evaluate } from '../../library/evaluate/evaluate.ts';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { until } from '../support/until.ts';

const ROWS = 6;
const ANSWERS: Readonly<Record<string, string>> = { good: '\\boxed{42}', poor: '\\boxed{41}' };
let everturn: Everturn;
let server: HttpListener;
/** A question with it is refused. */
let refused = 'nothing';
/** Questions that were answered, by model. */
const answered: string[] = [];
beforeAll(async () => {
  server = await listenHttp(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { model, messages } = JSON.parse(text) as { model: string; messages: { content: string }[] };
    const content = ANSWERS[model];
    const status = content === undefined ? 404 : text.includes(refused) ? 401 : 200;
    if (status === 200) answered.push(`${model} ${messages[0]!.content}`);
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    const reply = { id: 'x', object: 'chat.completion', model, choices, usage };
    response.writeHead(status).end(JSON.stringify(status === 200 ? reply : { error: { message: `no ${model}` } }));
  });
  everturn = openSharedEverturn();
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `What is 42? ${i}`, answer: '42' }));
  everturn.write('rows.jsonl', rows);
  everturn.write('other.csv', 'id,question,answer\na,What is 41?,41\nb,What is 40?,40\n');
});
afterAll(async () => {
  await everturn.close();
  server.close();
});

const named = (models: readonly string[]) => models.flatMap((model) => ['--model', `openai:${server.url}/v1#${model}`]);
const play = (name: string, models: string[], ...more: string[]) =>
  everturn.call('eval', 'rows.jsonl', 'other.csv', '--name', name, ...named(models), ...more);

/** A model is asked whether it is there with other words. */
const isQuestion = (asked: string): boolean => asked.includes('What is 4');

describe('an evaluation', { timeout: 300_000 }, () => {
  test('is one table of benchmarks and models, one turn each, found again by its name', async () => {
    const { code, stdout, stderr } = await play('both', ['good', 'poor']);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^rows +good +100\.0 % .*both-rows-good$/m);
    expect(stdout).toMatch(/^rows +poor +0\.0 % .*−100\.0 points/m);
    expect(stdout).toMatch(/^other +poor +50\.0 % /m);
    expect(stdout).toMatch(/^Settings {3}numTurns 1, /m);
    const calls = answered.length;
    const again = await everturn.call(
      'eval',
      '--name',
      'both',
      '--format',
      'md',
      '--price-in',
      '1',
      '--price-out',
      '1',
    );
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toMatch(
      /^\| rows \| accuracy, 6 problems \| 100\.0 % \(.*\)<br>cost 0\.0001<br>time \d+:\d\d \| 0\.0 % .*−100\.0 points.*<br>cost \S+<br>time \d+:\d\d \|$/m,
    );
    expect((await play('both', ['good', 'poor'])).code).toBe(0);
    expect(answered.length).toBe(calls);
  });

  test('keeps its runs when files and models of the same short names are added before them: nothing is paid twice', async () => {
    mkdirSync(join(everturn.folder, 'more'));
    everturn.write('more/rows.jsonl', [{ id: 'm', question: 'What is 43?', answer: '43' }]);
    const [one, other] = [`openai:${server.url}/v1#good`, `openai:${server.url}/v2#good`];
    const evaluated = (files: string[], models: string[]) =>
      everturn.call('eval', ...files, '--name', 'same', ...models.flatMap((model) => ['--model', model]));
    expect((await evaluated(['rows.jsonl'], [one])).code).toBe(0);
    const calls = () => answered.filter(isQuestion).length;
    const before = calls();
    const { code, stdout, stderr } = await evaluated(['more/rows.jsonl', './rows.jsonl'], [other, one]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^rows +good +100\.0 % .*same-rows-good$/m);
    // The rows of the first file by the other model, and the row of the other file by both.
    expect(calls() - before).toBe(ROWS + 2);
  });

  test('passes gates, or ends with 10 and says which cell did not', async () => {
    expect((await play('both', ['good'], '--fail-under', '0.4')).code).toBe(10);
    const file = join(everturn.folder, 'junit.xml');
    const { code, stderr } = await everturn.call(
      ...['eval', 'rows.jsonl', '--name', 'both', ...named(['good', 'poor'])],
      ...['--fail-under', '0.9', '--baseline', 'both', '--junit', 'junit.xml'],
    );
    expect(code).toBe(10);
    expect(stderr).toMatch(/^everturn: rows poor: --fail-under 0\.9: 0\.0000$/m);
    expect(readFileSync(file, 'utf8')).toContain('<testsuite name="rows" tests="2" failures="1">');
    const other = await everturn.call(
      'eval',
      'rows.jsonl',
      '--name',
      'worse',
      ...named(['poor']),
      '--baseline',
      'both-rows-good',
    );
    expect(other.stderr).toContain('worse than both-rows-good by a paired test: −100.0 points');
    expect(other.code).toBe(10);
  });

  test('refuses a cell that cannot be played by itself, and nothing is begun of it', async () => {
    const { code, stdout, stderr } = await play('misspelt', ['good', 'por']);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^Not played rows with por: .*no por/m);
    expect(stdout).toMatch(/^rows +good +100\.0 %.*misspelt-rows-good$/m);
    expect(existsSync(join(everturn.folder, 'runs/misspelt-rows-por'))).toBe(false);
    const none = await play('none', ['por']);
    expect(none.code).toBe(5);
    expect(existsSync(join(everturn.folder, 'runs/none.eval.json'))).toBe(false);
  });

  test('counts what failed as wrong beside the accuracy, and plays it again by the same command', async () => {
    refused = `What is 42? ${ROWS - 1}`;
    const { code, stdout, stderr } = await play('broken', ['good']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^everturn: rows good: 1 rollout failed.*no good/m);
    expect(stdout).toMatch(/^rows +good +100\.0 % .* 83\.3 % .*broken-rows-good$/m);
    refused = 'nothing';
    const calls = answered.length;
    const again = await play('broken', ['good']);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('with failed rollouts, which are played again');
    expect(again.stdout).not.toContain('left out as wrong');
    // The model is asked whether it is there by no cell that has ended.
    expect(answered.slice(calls)).toEqual([`good What is 42? ${ROWS - 1}`]);
  });

  test('names a damaged record, a run that is gone, and two cells that are one run; nothing is asked for it', async () => {
    expect((await play('kept', ['good'])).code).toBe(0);
    const calls = answered.length;
    const runs = join(everturn.folder, 'runs');
    renameSync(join(runs, 'kept-rows-good'), join(runs, 'kept-away'));
    const rest = await everturn.call('eval', '--name', 'kept');
    expect(rest.code).toBe(2);
    expect(rest.stdout).toMatch(/^good .*kept-other-good$/m);
    expect(rest.stdout).toContain('Not played: rows with good: its run kept-rows-good is not in');
    // A worker that was about to report on the run's servers has made the folder again.
    rmSync(join(runs, 'kept-rows-good'), { recursive: true, force: true });
    renameSync(join(runs, 'kept-away'), join(runs, 'kept-rows-good'));
    writeFileSync(join(runs, 'kept.eval.json'), '{"format":"everturn-eval/1"}');
    const damaged = await play('kept', ['good', 'poor']);
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringMatching(/kept\.eval\.json: `name` is missing/)]);
    const same = await everturn.call('eval', 'rows.jsonl', ...named(['good']), '--vary', 'maxConcurrent=1,2');
    expect([same.code, same.stderr]).toEqual([
      2,
      expect.stringMatching(/are one run, rows-\w+: what differs changes no answer/),
    ]);
    expect(answered.slice(calls).filter(isQuestion)).toEqual([]);
    const file = await everturn.call('eval', '--name', 'both', '--junit', 'none/x.xml');
    expect([file.code, file.stdout]).toEqual([2, expect.stringContaining('both-rows-good')]);
    expect(file.stderr).toContain('--junit none/x.xml cannot be written');
  });

  test('goes on where its command was killed, and asks nothing twice', async () => {
    const args = ['eval', 'rows.jsonl', 'other.csv', '--name', 'killed', ...named(['good', 'poor'])];
    const before = answered.length;
    for (const questions of [1, 3]) {
      const running = everturn.start(...args);
      await until('a question', () => answered.slice(before).filter(isQuestion).length >= questions);
      running.child.kill('SIGKILL');
      expect((await running.ended).signal).toBe('SIGKILL');
    }
    const { code, stderr } = await everturn.call(...args);
    expect(code, stderr).toBe(0);
    const asked = answered.slice(before).filter(isQuestion);
    expect(asked).toHaveLength(2 * (ROWS + 2));
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('is a call of the library', async () => {
    const found = await evaluate({
      ...{ benchmarks: ['rows.jsonl', 'absent.jsonl'], models: [`openai:${server.url}/v1#good`], repeats: 2 },
      ...{
        name: 'called',
        cwd: everturn.folder,
        home: inject('sharedHome'),
        env: { ...process.env, EVERTURN_TEMPORAL_CLI: inject('temporalBinary') },
      },
    });
    expect(found.refused.map(({ benchmark, refused: { reason } }) => [benchmark, reason])).toEqual([
      ['absent', 'dataset-missing'],
    ]);
    const { benchmarks } = await found.result();
    const [run] = benchmarks[0]!.runs;
    expect(run).toMatchObject({ label: 'good', run: 'called-rows-good', repeats: 2, ended: 2 * ROWS });
    expect(run!.atTurns[0]!.passAtAll).toMatchObject({ name: 'pass@2', value: 1 });
    await expect(evaluate({ benchmarks: [] })).rejects.toMatchObject({ reason: 'bad-value' });
    await expect(evaluate({ benchmarks: ['rows.jsonl'], temprature: 1 } as never)).rejects.toThrow('temprature');
  });
});

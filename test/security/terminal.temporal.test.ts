// What a data set, a model, a server or a stranger in the run's folder wrote cannot steer the terminal of who looks at
// it: hostile text stands in every field that takes one, through every command that prints, on a real run.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../cli/program.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { FULL, sized } from '../chaos/size.ts';
import { type Ended, type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { payloads, SEEDS, steering } from './payloads.ts';

const TEXTS = payloads(FULL ? 1000 : SEEDS.length);

let everturn: Everturn;
let server: HttpListener;
let model: string;
/** Instead of an answer: a refusal in the server's own words. */
let refusing = false;

beforeAll(async () => {
  everturn = openEverturn();
  let n = 0;
  server = await listenHttp((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString('utf8')));
    request.on('end', () => {
      const payload = TEXTS[n++ % TEXTS.length]!;
      response.setHeader('content-type', 'application/json').setHeader('x-payload', encodeURIComponent(payload));
      if (refusing && text.includes('Nr ')) {
        response.statusCode = 400;
        return response.end(JSON.stringify({ error: { message: `no ${payload} no` } }));
      }
      const message = { role: 'assistant', name: payload, content: `It is ${payload} \\boxed{${payload}1}` };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return response.end(JSON.stringify({ model: TEXTS[0], choices, [payload]: payload }));
    });
  });
  model = `openai:${server.url}/v1#m\u001b]0;model\u0007\u202e`;
  const rows = TEXTS.flatMap((text, i) => [
    { id: `q${i}${text}`, question: `Nr ${i} ${text}`, answer: `${text}1` },
    { id: `n${i}`, question: `Nr ${i} ${text}`, answer: String(i) },
    // A solution holds no control character and marks an answer: most of these are bad rows.
    { id: `s${i}`, question: `Nr ${i} ${text}`, solutions: [text, `\\boxed{${text}1}`] },
  ]);
  const bad = TEXTS.flatMap((text) => [
    { id: text, question: text, answer: '1', task: text },
    { id: 'b', messages: [{ role: text, content: 7 }], answer: '1' },
    { id: 'b', question: text, [text]: text },
  ]);
  const lines = [...rows, ...bad].map((row) => JSON.stringify(row));
  // Also where no field was found: control characters of a file as they are.
  writeFileSync(join(everturn.folder, 'rows.jsonl'), `${lines.join('\n')}\n${TEXTS.slice(0, 50).join('\n')}\n`);
}, 60_000);
afterAll(async () => {
  server.close();
  await everturn.close();
});

function expectTame({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>, what: string, coloured = false): void {
  expect(steering(stdout, coloured), `stdout of ${what}`).toEqual([]);
  expect(steering(stderr, coloured), `stderr of ${what}`).toEqual([]);
}

/** As text and as JSON: what it prints does not depend on a process of its own. */
async function tame(...args: string[]): Promise<void> {
  expectTame(await everturn.call(...args), args.join(' '));
  expectTame(await everturn.call(...args, '--json'), `${args.join(' ')} --json`);
}

const play = (name: string) => ['run', 'rows.jsonl', '--name', name, '--model', model, '--num-turns', '1'];

describe('hostile text cannot steer the terminal', () => {
  test('through a run that is followed, and its bad rows', { timeout: 400_000 }, async () => {
    const ended = await everturn.run(...play('odd'), '--max-concurrent', '64');
    expectTame(ended, 'run');
    // Rows whose id holds a control character are bad rows; the others were played.
    // Why not is at its end.
    expect((ended.stderr + ended.stdout).slice(-1500)).toMatch(/complete|undecided/);
    await tame(...play('strict'), '--strict');
  });

  test('through a run whose server refuses in its own words', { timeout: 400_000 }, async () => {
    refusing = true;
    const limited = [...play('refused'), '--max-concurrent', '64', '--limit', String(sized(200))];
    expectTame(await everturn.run(...limited), 'run');
    refusing = false;
    for (const run of ['odd', 'refused'])
      for (const words of [['status'], ['status', '--follow'], ['check'], ['why', 'n0']] as const)
        await tame(words[0], run, ...words.slice(1));
    for (const command of ['cancel', 'pause', 'resume']) await tame(command, 'odd');
    await tame('list');
  });

  test('through any trajectory, with colours and without', { timeout: 400_000 }, async () => {
    let shown = 0;
    for (const tty of [false, true])
      for (const [i] of TEXTS.entries())
        for (const run of ['odd', 'refused']) {
          const io = scriptedIo({ tty, cwd: everturn.folder, env: tty ? { FORCE_COLOR: '1', TERM: 'xterm' } : {} });
          const program = await buildProgram(io, ['show'], () => {});
          const asked = program.parseAsync(['show', run, `n${i}`, '--out', 'runs', '--tokens'], { from: 'user' });
          await asked.catch((error: unknown) => (io.text.err += String(error)));
          expectTame({ stdout: io.text.out, stderr: io.text.err }, `show n${i}`, tty);
          if (io.text.out.includes('Nr ')) shown++;
        }
    expect(shown).toBeGreaterThan(TEXTS.length);
    await tame('show', 'odd', 'n0');
    await tame('show', 'odd', 'no such \u001b]0;x\u0007\u202e query');
  });

  test('through a judgement of lines, and of a run', { timeout: 200_000 }, async () => {
    const pairs = TEXTS.flatMap((text, i) => [
      JSON.stringify({ id: `${i}${text}`, answer: `\\boxed{${text}}`, solutions: [text, '1'] }),
      JSON.stringify({ id: text, answer: 7, [text]: text }),
      JSON.stringify({ id: i, answer: `\`\`\`${text}\nprint(${text})\nprint(1)  # more\n\`\`\``, input_output: text }),
      text,
    ]);
    writeFileSync(join(everturn.folder, 'pairs.jsonl'), pairs.join('\n'));
    expectTame(await everturn.call('judge', 'pairs.jsonl'), 'judge');
    await tame('judge', '--run', 'odd');
  });

  test('through an export, to a file and to the terminal', { timeout: 200_000 }, async () => {
    // It writes to the process's own standard output.
    for (const json of [[], ['--json']])
      expectTame(await everturn.run('export', 'odd', '--format', 'areal', ...json), 'export');
    expectTame(await everturn.call('export', 'odd', '--format', 'areal', '--to', 'out.jsonl'), 'export');
  });

  test('through the logs of what was played', () => {
    const logs = join(everturn.folder, 'runs/odd/answers');
    const files = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.(?:txt|jsonl)$/.test(file),
    );
    expect(files.length).toBeGreaterThan(TEXTS.length);
    for (const file of files) expect(steering(readFileSync(join(logs, file), 'utf8'), true), file).toEqual([]);
  });

  test('through a folder in which a stranger wrote', { timeout: 200_000 }, async () => {
    const folder = join(everturn.folder, 'runs/odd');
    for (const [i, text] of TEXTS.slice(0, 60).entries()) {
      const name = text.replaceAll('/', '_').replaceAll('\0', '').slice(0, 100);
      if (name !== '') writeFileSync(join(folder, i % 2 ? 'rollouts' : '.', `${i}${name}`), text);
    }
    mkdirSync(join(folder, 'rollouts/00/\u001b]0;x\u0007'), { recursive: true });
    for (const command of ['check', 'status']) await tame(command, 'odd');
    const record = readFileSync(join(folder, 'run.json'), 'utf8');
    writeFileSync(join(folder, 'run.json'), record.replace('"run":"odd"', `"run":"${'\u001b]0;x\u0007\u202e'}"`));
    for (const words of [['check'], ['status'], ['status', '--follow'], ['show', 'n0']] as const)
      await tame(words[0], 'odd', ...words.slice(1));
    await tame('list');
  });

  test('through what a user was given to paste', { timeout: 200_000 }, async () => {
    const evil = '\u001b]52;c;AAAA\u0007\u202e\u009b2J\rx';
    expectTame(await everturn.run('run', evil), 'run');
    for (const args of [
      ['run', evil],
      ['run', 'rows.jsonl', '--name', evil],
      ['run', 'rows.jsonl', '--model', evil],
      ['run', 'rows.jsonl', '--model', `sglang:http://${evil}/`],
      ['run', 'rows.jsonl', '--set', `${evil}=1`],
      ['run', 'rows.jsonl', '--set', `temperature=${evil}`],
      ['run', 'rows.jsonl', '--tokenizer', evil, '--model', 'sglang:http://127.0.0.1:9'],
      ['run', 'rows.jsonl', '--api-key-env', evil, '--model', model],
      ...['status', 'check', 'cancel', 'pause', 'resume'].map((command) => [command, evil]),
      ['status', evil, '--follow'],
      ['tune', evil, '--max-concurrent', '3'],
      ['show', evil, evil],
      ['export', 'odd', '--format', evil],
      ['judge', evil],
      ['judge', '--run', evil],
      [evil],
      ['run', `--${evil}`],
    ]) {
      const ended = await everturn.call(...args.map((word) => word.replaceAll('\0', '')));
      expectTame(ended, JSON.stringify(args));
      expect(ended.code, JSON.stringify(args)).not.toBe(0);
    }
  });
});

// Secrets that a user, a server or the environment put where they could be carried on: none of them is in the run's
// folder, in Temporal's database (histories, memos, search attributes), in a log, in an error or in a command line.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { allPids, procFile } from '../support/processes.ts';
import { until } from '../support/until.ts';

const planted = () => `sk-live-${randomBytes(15).toString('hex')}`;
const CANARIES = {
  'the key of --api-key-env': planted(),
  'a key that --api-key-env was given instead of a name': planted(),
  'a user name in a url': planted(),
  'a password in a url': planted(),
  'a key in the query of a url': planted(),
  'a key in the fragment of a url': planted(),
  'the password of a proxy': planted(),
  'a key that nobody named': planted(),
  'a token of the hub': planted(),
  'a secret of a cloud': planted(),
  'a password of a data base': planted(),
  'a setting that is none': planted(),
};
const KEY = CANARIES['the key of --api-key-env'];

/** How the server says the key back, one request after the other. */
const ECHOES: readonly ((key: string) => { status: number; headers?: Record<string, string>; body: unknown })[] = [
  (key) => ({ status: 500, body: { error: { message: `Bad ${key} and ${key}` } } }),
  (key) => ({ status: 503, headers: { 'x-key': key, 'retry-after': '0' }, body: `<p>${key}</p>` }),
  (key) => ({ status: 200, body: `{"key": "${key}", "cut": ` }),
  (key) => ({ status: 200, body: { choices: [], detail: key } }),
  (key) => ({ status: 429, headers: { 'retry-after': '0' }, body: { detail: [{ [key]: key }] } }),
  (key) => ({ status: 302, headers: { location: `http://127.0.0.1:9/?key=${key}` }, body: '' }),
  (key) => ({ status: 401, body: { error: `Incorrect API key provided: ${key}` } }),
  (key) => ({ status: 400, body: { message: { nested: { deep: `Authorization: Bearer ${key}` } } } }),
  (key) => ({
    status: 200,
    body: { choices: [{ message: { content: `Your key is ${key}` }, finish_reason: 'stop' }] },
  }),
  (key) => ({ status: 200, body: { model: key, choices: [{ message: { content: '2' }, finish_reason: key }] } }),
];

let everturn: Everturn;
let server: HttpListener;
let url: string;
let echo = -1;
let asked = 0;
let said = '';

beforeAll(async () => {
  server = await listenHttp((request, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? 'none';
    if (key === KEY) asked++;
    request.resume().on('end', () => {
      const fine = { choices: [{ message: { content: 'It is \\boxed{2}.' }, finish_reason: 'stop' }] };
      const reply = echo < 0 ? { status: 200, body: fine } : ECHOES[echo++ % ECHOES.length]!(key);
      response.writeHead(reply.status, {
        'content-type': 'application/json',
        ...('headers' in reply ? reply.headers : {}),
      });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  });
  url = server.url;
  everturn = openEverturn({
    MODEL_KEY: KEY,
    HTTP_PROXY: `http://someone:${CANARIES['the password of a proxy']}@127.0.0.1:9`,
    NO_PROXY: '*',
    OPENAI_API_KEY: CANARIES['a key that nobody named'],
    HF_TOKEN: CANARIES['a token of the hub'],
    AWS_SECRET_ACCESS_KEY: CANARIES['a secret of a cloud'],
    DATABASE_URL: `postgres://u:${CANARIES['a password of a data base']}@localhost/x`,
  });
  const rows = Array.from({ length: 12 }, (_, i) => ({ id: `q${i}`, question: '1 + 1?', answer: '2' }));
  everturn.write('rows.jsonl', rows);
}, 60_000);
afterAll(async () => {
  server.close();
  await everturn.close();
});

async function keep(ending: Promise<Ended>): Promise<number | null> {
  const ended = await ending;
  said += ended.stdout + ended.stderr;
  return ended.code;
}

const words = (name: string, model: string, ...more: string[]) => [
  ...['run', 'rows.jsonl', '--name', name, '--model', model, '--max-new-tokens', '16', '--max-failed', '100'],
  ...['--num-turns', '1', '--verbose', ...more],
];

describe('secrets', () => {
  test('are in no file, no history and no output of a run that has them', { timeout: 400_000 }, async () => {
    const named = ['--api-key-env', 'MODEL_KEY'];
    expect(await keep(everturn.call(...words('quiet', `openai:${url}#m`, ...named)))).toBe(0);
    echo = 0;
    // At start, which asks once or twice …
    for (let i = 0; i < ECHOES.length; i++)
      await keep(everturn.call(...words(`start-${i}`, `openai:${url}#m`, ...named, '--limit', '1')));
    // … and while it is played: the start is answered, then every answer tells the key in its way.
    echo = -1;
    const before = asked;
    const turns = ['--num-turns', '2', '--max-concurrent', '1'];
    const played = keep(everturn.run(...words('told', `openai:${url}#m`, ...named, ...turns)));
    await until('some answers', () => asked >= before + 4);
    echo = 0;
    await played;
    expect(asked).toBeGreaterThan(before + 10);
    echo = -1;

    const c = CANARIES;
    const host = url.replace('http://', '');
    const refused: [model: string, ...more: string[]][] = [
      [`openai:http://${c['a user name in a url']}:${c['a password in a url']}@${host}#m`],
      [`sglang:http://${c['a user name in a url']}:${c['a password in a url']}@${host}`],
      [`vllm:http://:${c['a password in a url']}@${host}/x y`],
      [`sglang:${url}/?key=${c['a key in the query of a url']}`],
      [`sglang:${url}/#${c['a key in the fragment of a url']}`],
      [`openai:${url}#m`, '--api-key-env', c['a key that --api-key-env was given instead of a name']],
      [`openai:${url}#m`, '--set', `apiKey=${c['a setting that is none']}`],
    ];
    for (const [i, [model, ...more]] of refused.entries())
      expect(await keep(everturn.call(...words(`refused-${i}`, model, ...more))), model).not.toBe(0);

    for (const command of ['list', 'status told', 'status told --follow', 'check told', 'show told q0', 'why told q0'])
      for (const json of [[], ['--json']]) await keep(everturn.call(...command.split(' '), ...json));
    await keep(everturn.run('export', 'told', '--format', 'rows'));

    const places = new Map([
      ['what the commands said', Buffer.from(said)],
      ...filesUnder(everturn.folder),
      ...commandLines(),
    ]);
    const found = [...places].flatMap(([place, bytes]) =>
      Object.entries(CANARIES).flatMap(([name, secret]) => (bytes.includes(secret) ? [`${name}: ${place}`] : [])),
    );
    expect(found).toEqual([]);
    // The search would have found it: what is meant to be there is.
    const database = [...places].find(([place]) => place.endsWith('.db'))!;
    expect(database[1].includes('told/q0/0')).toBe(true);
    expect(said).toContain('[key]');
    expect([...places.keys()].some((place) => place.endsWith('.log'))).toBe(true);
  });
});

function filesUnder(folder: string): [string, Buffer][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => [path, readFileSync(path)]);
}

const commandLines = (): [string, Buffer][] =>
  allPids()
    .filter((pid) => pid !== process.pid)
    .map((pid) => [`the command line of ${pid}`, Buffer.from(procFile(pid, 'cmdline'), 'latin1')]);

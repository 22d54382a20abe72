// `everturn doctor`: its checks are real, each failure says what to do, and one that hangs is given up.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Check, checked } from '../../cli/doctor/check.ts';
import { nodeCheck } from '../../cli/doctor/machine.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { listenHttp } from '../support/http-listener.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

interface Said {
  readonly ok: boolean;
  readonly exitCode: number;
  readonly checks: readonly {
    readonly check: string;
    readonly state: string;
    readonly said: string;
    readonly fix?: string;
  }[];
}

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

async function doctor(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Said> {
  const { code, out } = await call(cwd, ['doctor', '--json', ...args], env);
  const said = JSON.parse(out) as Said;
  expect(said.exitCode).toBe(code);
  for (const { state, fix, said: text } of said.checks) {
    expect(text.length).toBeGreaterThan(0);
    if (state !== 'ok') expect(fix?.length ?? 0).toBeGreaterThan(10);
  }
  return said;
}

const find = ({ checks }: Said, check: string) => checks.filter((one) => one.check === check);

describe('everturn doctor', () => {
  test('tries the shipped model and the judge, and leaves no file', async () => {
    const said = await doctor({ PATH: process.env['PATH'] ?? '' });
    expect(find(said, 'model')[0]).toMatchObject({ state: 'ok' });
    expect(find(said, 'model')[0]!.said).toContain('tiny gave 8 tokens with logprobs');
    expect(find(said, 'judge')[0]).toMatchObject({ state: 'ok' });
    expect(find(said, 'runs')[0]!.said).toContain('a durable write');
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('names a model server that is away, with exit code 5', async () => {
    const said = await doctor({ PATH: process.env['PATH'] ?? '' }, '--model', 'sglang:http://127.0.0.1:1');
    expect(said.ok).toBe(false);
    expect(find(said, 'model')[0]).toMatchObject({ state: 'fail', fix: 'Is it running there?' });
  });

  test('says what to install where neither a Temporal server nor Go is there', async () => {
    const said = await doctor({ PATH: join(cwd, 'nothing'), EVERTURN_CACHE: join(cwd, 'cache') });
    const temporal = find(said, 'Temporal').at(-1)!;
    // The SDK may have downloaded one on this machine.
    if (temporal.state === 'fail') {
      expect(said.exitCode).toBe(4);
      expect(temporal.fix).toContain('EVERTURN_TEMPORAL_CLI');
      expect(temporal.fix).toContain('install Go');
    } else expect(temporal.said).toContain('SDK cache');
    expect(find(said, 'sandbox')[0]).toMatchObject({ state: 'note' });
  });

  test('names a variable without a key, and never its value', async () => {
    const server = await listenHttp((_, response) => response.writeHead(401).end('{}'));
    try {
      const args = ['--model', `vllm:${server.url}`, '--api-key-env', 'MY_KEY'];
      const absent = await doctor({ PATH: '' }, ...args);
      expect(JSON.stringify(absent)).toContain('MY_KEY');
      const set = await doctor({ PATH: '', MY_KEY: 'sk-very-secret-value' }, ...args);
      expect(JSON.stringify(set)).not.toContain('very-secret');
    } finally {
      server.close();
    }
  });
});

describe('the checks', () => {
  const checkOf = (name: string, run: Check['run'], code: Check['code'] = 1): Check => ({
    name,
    code,
    withinMs: 50,
    run,
  });
  const all = async (checks: readonly Check[]) => {
    const found = [];
    for await (const one of checked(checks, Date.now)) found.push(one);
    return found;
  };

  test('give up one that hangs, and tell it so', async () => {
    let aborted = false;
    const [found] = await all([
      checkOf('slow', (signal) => {
        signal.addEventListener('abort', () => (aborted = true));
        return new Promise(() => {});
      }),
    ]);
    expect(found).toMatchObject({ state: 'fail', said: 'did not answer within 0.05 s' });
    expect(aborted).toBe(true);
  });

  test('turn an error of ours into its text and its fix, and any other into a report', async () => {
    const [ours, other] = await all([
      checkOf('a', async () => {
        throw new ModelError('The model is gone.', { reason: 'model-not-found', fix: 'Bring it back.' });
      }),
      checkOf('b', async () => {
        throw new TypeError('x is undefined');
      }),
    ]);
    expect(ours).toMatchObject({ said: 'The model is gone.', fix: 'Bring it back.' });
    expect(other).toMatchObject({ said: 'x is undefined', fix: 'This is unexpected: report it.' });
  });

  test.each([
    ['20.19.9', 'fail'],
    ['18.20.0', 'fail'],
    ['20.20.0', 'ok'],
    ['24.1.0', 'ok'],
  ])('Node %s: %s', async (version, state) => {
    expect((await nodeCheck(version).run(new AbortController().signal))[0]!.state).toBe(state);
  });
});

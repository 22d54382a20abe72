// The command as users call it wrongly: one paragraph, the documented exit code, nothing started, nothing left behind.
// One of each class is the built command in a process of its own (npm run build); no server is needed.

import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { rowsOf } from '../support/rows.ts';
import { bucketEnvironment, openS3Server, type S3Fault } from '../support/s3-server.ts';

const GOOD = '{"question":"1+1?","answer":"2"}\n';
let everturn: Everturn;
const file = (name: string, content: string | Buffer) => writeFileSync(join(everturn.folder, name), content);

beforeAll(() => {
  everturn = openEverturn();
  file('good.jsonl', GOOD);
  file('empty.jsonl', '');
  file('blank.jsonl', '\n \n');
  file('latin1.jsonl', Buffer.from('{"question":"é?","answer":"2"}\n', 'latin1'));
  file('double.jsonl', '{"id":"a","question":"1?","answer":"1"}\n{"id":"a","question":"2?","answer":"2"}\n');
  file('outside.jsonl', '{"id":"../x","question":"1?","answer":"1"}\n');
  file('nul.jsonl', '{"id":"a\\u0000b","question":"1?","answer":"1"}\n');
  file(
    'long.jsonl',
    Buffer.concat([Buffer.from('{"question":"'), Buffer.alloc(100 * 2 ** 20, 'x'), Buffer.from('"}\n')]),
  );
  file('steer.jsonl', '{"question":"1?","answer":["\\u001b[2J\\u202e"]}\n');
  file('zero.yaml', 'numTurns: 0\n');
  file('odd.yaml', 'turns: 3\n');
  file('broken.yaml', 'a: [\n');
  file('twice.yaml', 'numTurns: 4\nnum-turns: 9\n');
  mkdirSync(join(everturn.folder, 'no-model'));
});
afterAll(() => everturn.close());

type How = 'run' | 'call';

/** Holds it to what every error must be; `run`: in a process of its own. */
async function refused(args: readonly string[], code: number, says: RegExp, how: How = 'call'): Promise<void> {
  const ended = await everturn[how](...args);
  expect(ended.stderr).toMatch(says);
  expect(ended.code).toBe(code);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(existsSync(join(everturn.folder, 'runs'))).toBe(false);
  expect(everturn.service()).toBeUndefined();
}

describe('wrong words', () => {
  test.each(rowsOf<{ of: string; args: string[]; says: string }>('./wrong-words.jsonl', import.meta.url))(
    '$of is a usage error',
    ({ args, says }) =>
      // A configuration file is found from the process's own folder.
      refused(
        args.map((word) => (word.endsWith('.yaml') ? join(everturn.folder, word) : word)),
        2,
        new RegExp(says),
      ),
  );

  test('a usage error ends the process so, too', () =>
    refused(['run', 'good.jsonl', '--config', 'zero.yaml'], 2, /zero\.yaml, numTurns: 0 does not fit/, 'run'));

  test('a variable of the environment is named when its value is wrong', async () => {
    const other = openEverturn({ EVERTURN_TOP_P: '7' });
    const ended = await other.call('run', join(everturn.folder, 'good.jsonl'));
    await other.close();
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('EVERTURN_TOP_P: "7" does not fit') });
  });
});

describe('a data set that cannot be played', () => {
  test.each(rowsOf<{ of: string; args: string[]; says: string }>('./wrong-datasets.jsonl', import.meta.url))(
    '$of exits with 6',
    ({ args, says }) => refused(['run', ...args], 6, new RegExp(says)),
  );

  test('that is missing ends the process so, too', () => refused(['run', 'missing.jsonl'], 6, /no data set at/, 'run'));
});

describe('a place that takes no run', () => {
  test.each<[string, string, RegExp]>([
    ['a file', 'good.jsonl', /good\.jsonl.*a part of the path is a file/],
    ['a folder that nobody can make', '/proc/none/runs', /\/proc\/none\/runs.*no folder can be made there/],
    ['a bucket without keys', 's3://bucket/runs', /AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set/],
  ])('%s exits with 2 before the model is opened', (_, out, says) =>
    refused(['run', 'good.jsonl', '--out', out, '--model', 'transformers:./missing'], 2, says),
  );

  test.each<[string, S3Fault, 'yes' | 'no', RegExp]>([
    [
      'has no conditional writes',
      undefined,
      'no',
      /^everturn: s3:\/\/bucket\/runs\/r \(server: toy-s3\) cannot hold a run/,
    ],
    ['may only be read', [403, 'AccessDenied'], 'yes', /PutObject/],
  ])('a bucket that %s exits with 2, with nothing in it', async (_, fault, conditional, says) => {
    const server = await openS3Server();
    server.conditional = conditional;
    server.fault = ({ method }) => (method === 'PUT' ? fault : undefined);
    const own = openEverturn(bucketEnvironment(server.url));
    try {
      const data = join(everturn.folder, 'good.jsonl');
      const { code, stderr } = await own.call('run', data, '--out', 's3://bucket/runs', '--name', 'r');
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(says);
      expect(code).toBe(2);
      expect(own.service()).toBeUndefined();
      expect([...server.objects.keys()]).toEqual([]);
    } finally {
      await own.close();
      await server.close();
    }
  });
});

describe('a model that cannot answer', () => {
  test.each<[string, string, RegExp]>([
    ['a missing folder', 'transformers:./missing', /no model folder .*missing/],
    ['a folder without a model', 'transformers:no-model', /no-model lacks .*model\.onnx/],
  ])('%s exits with 5', (_, model, says) => refused(['run', 'good.jsonl', '--model', model], 5, says));
});

describe('a cluster that does not answer', () => {
  const away = async (address: string, how: How) => {
    const other = openEverturn({ TEMPORAL_ADDRESS: address });
    const ended = await other[how]('run', join(everturn.folder, 'good.jsonl'));
    expect(existsSync(join(other.folder, 'runs'))).toBe(false);
    await other.close();
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain(`${address} cannot be reached`);
    expect(ended.stderr).toContain('TEMPORAL_ADDRESS');
    // Node's own warnings name its process.
    expect(ended.stderr).not.toMatch(/\(node:\d+\)|Warning:/);
  };

  test('exits with 4 where nothing listens', () => away('127.0.0.1:1', 'run'));

  test('exits with 4 where something listens and says nothing', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    await away(`127.0.0.1:${(mute.address() as AddressInfo).port}`, 'call');
    mute.close();
  });
});

describe('a command that cannot go on', () => {
  test('a worker with nobody to work for says what to do', () => refused(['worker'], 4, /everturn up/, 'run'));

  test('--verbose adds where an error came from', async () => {
    const ended = await everturn.call('run', 'missing.jsonl', '--verbose');
    expect(ended.code).toBe(6);
    expect(ended.stderr).toMatch(/^DatasetError: .*\n +at /m);
  });
});

// A model's url cannot be made to mean the address where a cloud tells a machine its secrets, however it is spelled,
// whatever a name resolves to when it is used, and wherever a server points. What is local stays allowed.

import { describe, expect, test } from 'vitest';
import { post } from '../../environments/own/url.ts';
import { readRubric } from '../../environments/own/rubric/rubric.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { openHttp } from '../../inference/http/http.ts';
import { parseOpenaiTarget, parseServerUrls } from '../../inference/http/server-url.ts';
import {
  ForbiddenAddress,
  guardedFetch,
  isForbiddenAddress,
  type Lookup,
} from '../../local/machine/forbidden-address.ts';
import { openSender } from '../../records/bucket/request.ts';
import { bucketSettings } from '../../records/bucket/settings.ts';
import { listenHttp } from '../support/http-listener.ts';

/** An IPv4 address as people hide it: each part, or the last parts together, in any base. */
function spellings(address: string): string[] {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  const all = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (n: number) => `0x${n.toString(16)}`;
  const octal = (n: number) => `0${n.toString(8)}`;
  const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const dotted = [
    address,
    String(all),
    hex(all),
    hex(all).toUpperCase().replace('X', 'x'),
    octal(all),
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((n) => `000${octal(n)}`).join('.'),
    `${hex(a)}.${b}.${octal(c)}.${d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${hex(a)}.${hex((b * 256 + c) * 256 + d)}`,
    encodeURIComponent(address).replaceAll('.', '%2e'),
    address.replaceAll('.', '。'),
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replace(/\d/g, (digit) => String.fromCodePoint(0x1d7ce + Number(digit))),
  ];
  const sixes = [
    `::ffff:${address}`,
    `::ffff:${groups}`,
    `0:0:0:0:0:ffff:${groups}`,
    `0000:0000:0000:0000:0000:FFFF:${groups.toUpperCase()}`,
    `::${address}`,
    `64:ff9b::${address}`,
    `64:ff9b::${groups}`,
    `2002:${groups}::`,
    `2002:${groups}::1`,
  ];
  return [...dotted, ...dotted.map((text) => `${text}.`), ...sixes.map((text) => `[${text}]`)];
}

const METADATA = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192'];
const SPELLINGS = [
  ...METADATA.flatMap(spellings),
  ...[
    '[fe80::1]',
    '[fe80::a9fe:a9fe]',
    '[febf::1]',
    '[fd00:ec2::254]',
    '[FD00:EC2:0:0:0:0:0:254]',
    '[fd20:ce::254]',
    '[::ffff:0:a9fe:a9fe]',
  ],
];

describe('requests to other hosts', () => {
  test(`no spelling of those addresses is taken as a model's url`, () => {
    expect(SPELLINGS.length).toBeGreaterThan(120);
    const taken = SPELLINGS.filter((host) => {
      for (const url of [`http://${host}:80/v1`, `https://${host}/`, `http://${host}`])
        for (const parse of [() => parseServerUrls(url), () => parseOpenaiTarget(`${url}#m`)])
          try {
            parse();
            return true;
          } catch {
            // Refused, or no url at all.
          }
      return false;
    });
    expect(taken).toEqual([]);
  });

  test.each(SPELLINGS)('nothing is sent to %s, also where nobody looked at the url', async (host) => {
    if (!URL.canParse(`http://${host}:9`)) return;
    const http = openHttp({ url: `http://${host}:9`, apiKey: null, connectMs: 2000 });
    await expect(http.get('/latest/meta-data/')).rejects.toMatchObject({
      reason: 'server-forbidden',
      retryable: false,
    });
    await http.close();
  });
});

describe('a name', () => {
  const resolving =
    (...answers: string[]): Lookup =>
    (_name, options, answer) => {
      const all = answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (options.all) return answer(null, all);
      answer(null, all[0]!.address, all[0]!.family);
    };

  test.each([
    ['169.254.169.254'],
    ['127.0.0.1', '169.254.169.254'],
    ['::ffff:169.254.169.254'],
    ['::1', 'fe80::1'],
    ['fd00:ec2::254'],
  ])('that resolves to one of them is not asked: %s', async (...answers) => {
    const http = openHttp({ url: 'http://model.example:9', apiKey: null, lookup: resolving(...answers) });
    await expect(http.get('/')).rejects.toMatchObject({ reason: 'server-forbidden', retryable: false });
    await http.close();
  });

  test('that comes to mean one of them later is not asked any more', async () => {
    const server = await listenHttp((_, response) => response.setHeader('connection', 'close').end('{}'));
    let now = resolving('127.0.0.1');
    const lookup: Lookup = (...args) => now(...args);
    const http = openHttp({ url: `http://model.example:${server.port}`, apiKey: null, lookup });
    expect(await http.get('/')).toEqual({});
    now = resolving('169.254.169.254');
    await expect(http.get('/')).rejects.toMatchObject({ reason: 'server-forbidden' });
    await http.close();
    server.close();
  });
});

describe('every other address that a run names', () => {
  const AWS = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' };
  const limits = { signal: new AbortController().signal, timeoutMs: 2000 };
  const judge = (server: string) => ({
    server,
    model: 'm',
    name: 'r',
    instructions: 'Judge.',
    choices: ['good', 'bad'].map((choice) => ({ choice, reward: 1 })),
  });
  test.each(SPELLINGS)('is refused when it is read, and not asked if it was not: %s', async (host) => {
    if (!URL.canParse(`http://${host}:8009`)) return;
    const url = `http://${host}:8009`;
    const never = expect.stringContaining('never asked') as string;
    expect(() => parseSpec(url, '/')).toThrow('never asked');
    expect(() => readRubric('r.json', JSON.stringify(judge(url)))).toThrow('never asked');
    expect(() => bucketSettings({ ...AWS, AWS_ENDPOINT_URL: url })).toThrow('never asked');
    const refused = { message: never, retryable: false };
    await expect(post('env', 'respond', url, {}, limits)).rejects.toMatchObject(refused);
    const settings = { ...bucketSettings(AWS), endpoint: url };
    const read = openSender(settings)({ action: 'read', method: 'GET', place: { bucket: 'b', key: 'k' } });
    await expect(read).rejects.toMatchObject(refused);
  });

  test('is not asked where a redirect points', async () => {
    const { url, close } = await listenHttp((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    await expect(guardedFetch(url)).rejects.toMatchObject({ cause: expect.any(ForbiddenAddress) as Error });
    await expect(post('env', 'respond', url, {}, limits)).rejects.toThrow('answered `respond` with status 302');
    const http = openHttp({ url, apiKey: null });
    await expect(http.get('/')).rejects.toMatchObject({ reason: 'server-redirects', retryable: false });
    await http.close();
    close();
  });
});

describe('requests to other hosts', () => {
  test.each([
    '127.0.0.1',
    '[::1]',
    'localhost',
    '10.1.2.3',
    '192.168.0.7',
    '172.16.0.1',
    '[fd12::1]',
    '100.64.0.1',
    '8.8.8.8',
  ])('where model servers are is allowed: %s', (host) => {
    expect(parseServerUrls(`http://${host}:8000`)).toHaveLength(1);
    expect(isForbiddenAddress(host)).toBe(false);
  });

  test('a model on localhost is asked', async () => {
    const { port, close } = await listenHttp((_, response) => response.end('{"fine":true}'));
    for (const host of ['localhost', '127.0.0.1', '2130706433', '[::ffff:127.0.0.1]']) {
      const http = openHttp({ url: `http://${host}:${port}`, apiKey: null });
      expect(await http.get('/')).toEqual({ fine: true });
      await http.close();
    }
    close();
  });
});

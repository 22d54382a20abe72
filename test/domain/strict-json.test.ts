// Everything that others write as JSON, at the door that reads it: a key that stands twice is refused by its name, however
// it is escaped and however deep it stands, and deep nesting ends nothing.

import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { strictJson } from '../../domain/text/json-text.ts';
import { parseLine as environmentReply } from '../../environments/processes/envelope.ts';
import { readRubric } from '../../environments/own/rubric/rubric.ts';
import { readVerbArguments } from '../../client/feed/feed-http.ts';
import { parseReplyJson as serverReply } from '../../inference/http/reply-json.ts';
import { openMcpProcess } from '../../environments/tools/mcp-process.ts';

const mcp = async (text: string) => {
  const answer = text.replace('{', '{"jsonrpc":"2.0","id":1,"result":{},');
  const script = 'process.stdin.once("data", () => console.log(process.argv[1])); setTimeout(() => {}, 20_000)';
  const launch = { who: 'a server', file: process.execPath, args: ['-e', script, answer], cwd: '/', env: {} };
  await openMcpProcess({ ...launch, log: () => undefined }, { timeoutMs: 60_000 });
};
const place = { url: 'http://a', path: '/generate', secret: null };
const DOORS: Readonly<Record<string, (text: string) => unknown>> = {
  'an environment': (text) => environmentReply('guess', Buffer.from(text)),
  'a rubric': (text) => readRubric('r.json', text),
  'a feed': (text) =>
    readVerbArguments('lease', Object.assign(Readable.from([Buffer.from(text)]), { headers: {} }) as never),
  'a model server': (text) => serverReply(Buffer.from(text), text, place),
  'an MCP server': mcp,
};

describe.each(Object.entries(DOORS))('the JSON of %s', (_, read) => {
  test.each([
    ['{"done": false, "reward": 1, "reward": 2}', '"reward"'],
    ['{"reward": 1, "rew\\u0061rd": 2}', '"reward"'],
    ['{"list": [{"verdict": {"verdict": "right", "verdict": "wrong"}}]}', '"list[].verdict.verdict"'],
  ])('is refused for %s, and names the key', async (text, key) => {
    const said = expect.stringContaining(
      `has the key ${JSON.stringify(key).slice(1, -1).replaceAll('\\"', '"')} twice`,
    );
    await expect((async () => read(text))()).rejects.toMatchObject({ message: said as string });
  });
});

describe('JSON from outside', () => {
  test('nesting without end is refused, and ends nothing', () => {
    expect(() => strictJson('['.repeat(5000) + ']'.repeat(5000))).toThrow('is nested deeper than 200 levels');
  });
});

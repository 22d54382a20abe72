// A real MCP server that nobody here wrote, if one is given: npm install @modelcontextprotocol/server-everything
// somewhere, and MCP_SERVER_EVERYTHING="node <folder>/dist/index.js" here. Seen with 2026.8.31.

import { afterAll, describe, expect, test } from 'vitest';
import { describeTools } from '../../../environments/tools/describe.ts';
import { openTools } from '../../../environments/tools/open.ts';

const COMMAND = process.env['MCP_SERVER_EVERYTHING'];
const log = () => undefined;
const tools = openTools({ code: undefined, log, permitted: ({ spec }) => spec });
afterAll(() => tools.close());

describe('the MCP server "everything"', () => {
  test('says its tools, with schemas that are some, and answers calls', async (context) => {
    if (COMMAND === undefined) return context.skip('MCP_SERVER_EVERYTHING names no command of it');
    const { list } = await describeTools({ tool: [], mcp: [COMMAND], toolTimeoutSeconds: 20 }, process.cwd(), log);
    expect(list.length).toBeGreaterThan(3);
    const call = (name: string, given: object) =>
      tools.call(
        list.find((tool) => tool.name === name)!,
        {
          arguments: given as never,
          key: 'a/b/0/1/1/1',
          signal: new AbortController().signal,
          before: async () => undefined,
        },
        process.cwd(),
      );
    expect(await call('echo', { message: 'grüße "x"' })).toEqual({ text: 'Echo: grüße "x"', outcome: 'ok' });
    expect(await call('get-sum', { a: 2, b: 40 })).toMatchObject({
      outcome: 'ok',
      text: expect.stringContaining('42'),
    });
    // Its own check of arguments is told, and is no outage.
    expect(await call('get-sum', { a: 'x' })).toMatchObject({ outcome: 'failed' });
  });
});

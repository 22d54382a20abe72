// A real MCP server that nobody here wrote, if one is given: npm install @modelcontextprotocol/server-everything
// somewhere, and MCP_SERVER_EVERYTHING="node <folder>/dist/index.js" here. Seen with 2026.8.31.

import { describe, expect, test } from 'vitest';
import { find, toolRig } from './tool-rig.ts';

const COMMAND = process.env['MCP_SERVER_EVERYTHING'];
const { listOf, call } = toolRig();

describe('the MCP server "everything"', () => {
  test('says its tools, with schemas that are some, and answers calls', async ({ skip }) => {
    if (COMMAND === undefined) return skip('MCP_SERVER_EVERYTHING names no command of it');
    const list = await listOf({ mcp: [COMMAND], toolTimeoutSeconds: 20 });
    expect(list.length).toBeGreaterThan(3);
    const echo = await call(find(list, 'echo'), { message: 'grüße "x"' });
    expect(echo).toEqual({ text: 'Echo: grüße "x"', outcome: 'ok' });
    const sum = find(list, 'get-sum');
    expect(await call(sum, { a: 2, b: 40 })).toMatchObject({ outcome: 'ok', text: expect.stringContaining('42') });
    // Its own check of arguments is told, and is no outage.
    expect(await call(sum, { a: 'x' })).toMatchObject({ outcome: 'failed' });
  });
});

// A small MCP server for tests, on standard input and output: two tools, a page each. Written from the protocol's text.
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const TOOLS = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'wait', description: 'Never answers.', inputSchema: { type: 'object' } },
  { name: 'fail', description: 'Fails.', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  {
    name: 'die',
    description: 'Ends the server.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
];
console.log('hello, I am no JSON');
let rest = '';
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') {
      write({ id: 900, method: 'roots/list' });
      write({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
      write({
        id,
        result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'tiny', version: '1' } },
      });
    } else if (method === 'tools/list') {
      if (params.cursor) write({ id, result: { tools: TOOLS.slice(2) } });
      else write({ id, result: { tools: TOOLS.slice(0, 2), nextCursor: 'more' } });
    } else if (method === 'tools/call' && params.name === 'add') {
      const { a, b } = params.arguments;
      const text = `${a + b} for ${params['_meta']['everturn/key']}`;
      write({
        id,
        result: {
          content: [
            { type: 'text', text },
            { type: 'image', mimeType: 'image/png', data: 'AAAA' },
          ],
        },
      });
    } else if (method === 'tools/call' && params.name === 'fail') {
      write({ id, result: { isError: true, content: [{ type: 'text', text: 'it is broken' }] } });
    } else if (method === 'tools/call' && params.name === 'die') process.exit(3);
  }
}

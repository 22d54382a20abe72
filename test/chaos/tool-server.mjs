// An MCP server whose tools report to a shop outside, as a user's would: `book` may be called again with the same key,
// `sell` must not be. MCP on standard input and output, one message a line.

const SHOP = process.env.ENVIRONMENT_SHOP;
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
const TOOLS = [
  { name: 'twice', description: 'Doubles.', inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: 'book', description: 'Books.', inputSchema: schema, annotations: { idempotentHint: true } },
  { name: 'sell', description: 'Sells.', inputSchema: schema },
];

async function called({ name, arguments: { count }, _meta }) {
  if (name === 'twice') return `${2 * count}`;
  await fetch(`${SHOP}/${name}`, { method: 'POST', headers: { 'idempotency-key': _meta['everturn/key'] } });
  return `${name}: ${count}`;
}

async function answered({ id, method, params }) {
  if (method === 'initialize')
    write({
      id,
      result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'shop', version: '1' } },
    });
  else if (method === 'tools/list') write({ id, result: { tools: TOOLS } });
  else if (method === 'tools/call') write({ id, result: { content: [{ type: 'text', text: await called(params) }] } });
}

let rest = '';
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  // Several at once, as real servers do.
  for (const line of lines) void answered(JSON.parse(line));
}

// An MCP server for tests with one oddity: `odd-server.mjs <oddity> [<its JSON>]`. A call gives the tool's name.
const [oddity, given = 'null'] = process.argv.slice(2);
const what = JSON.parse(given);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name) => ({ name, inputSchema: { type: 'object' } });
const pure = (name) => ({ ...tool(name), annotations: { readOnlyHint: true } });
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const oddities = {
  names: { list: () => ({ tools: what.map(tool) }) },
  // `what`: the cursor of each page; after the last of them it stands for ever.
  cursors: {
    list(_, page) {
      const nextCursor = what[Math.min(page, what.length - 1)];
      return { tools: [tool(`page${Math.min(page, what.length)}`)], ...(nextCursor !== 'absent' && { nextCursor }) };
    },
  },
  endless: { list: (_, page) => ({ tools: [tool(`page${page}`)], nextCursor: `${page}` }) },
  // `what`: the reply of each tool.
  replies: {
    list: () => ({ tools: what.map((_, i) => pure(`tool${i}`)) }),
    call: (id, { name }) => say({ id, ...what[name.replace('tool', '')] }),
  },
  raw: { call: (id) => process.stdout.write(what.replaceAll('ID', id)) },
  large: { call: (id) => say({ id, result: text('x'.repeat(17 << 20)) }) },
  silent: { call: () => undefined },
  hello: { hello: () => what },
};
const { list = () => ({ tools: [pure('one')] }), call, hello } = oddities[oddity];
const greeting = (version) => ({
  protocolVersion: version,
  capabilities: { tools: {} },
  serverInfo: { name: 'odd', version: '1' },
});
let rest = '';
let pages = 0;
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') say({ id, result: { ...greeting(params.protocolVersion), ...hello?.() } });
    else if (method === 'tools/list') say({ id, result: list(params, pages++) });
    else if (method === 'tools/call') (call ?? (() => say({ id, result: text(params.name) })))(id, params);
  }
}

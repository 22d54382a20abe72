// An MCP server for tests that stands still, or dies while others wait. Its folder is its argument: `starts` has a line for
// each process, `begun-<n>` says that a call of `wait` has begun, and it replies when `go` is there.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
appendFileSync(join(folder, 'starts'), `${process.pid}\n`);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
});
const say = (id, text) => write({ id, result: { content: [{ type: 'text', text }] } });
function called(id, name, given) {
  if (name === 'die') process.exit(3);
  if (name === 'hang') return;
  if (name === 'freeze') {
    // Its replies of before the stop are not the point: it is stopped in the middle of this one.
    if (given.seconds) spawn('sh', ['-c', `sleep ${given.seconds}; kill -CONT ${process.pid}`], { stdio: 'ignore' });
    process.kill(process.pid, 'SIGSTOP');
    return say(id, 'thawed');
  }
  writeFileSync(join(folder, `begun-${given.n}`), '');
  const looking = setInterval(() => {
    if (!existsSync(join(folder, 'go'))) return;
    clearInterval(looking);
    say(id, `waited ${given.n}`);
  }, 20);
}
let rest = '';
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    const serverInfo = { name: 'still', version: '1' };
    if (method === 'initialize') write({ id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo } });
    if (method === 'tools/list') write({ id, result: { tools: ['die', 'hang', 'freeze', 'wait'].map(tool) } });
    if (method === 'tools/call') called(id, params.name, params.arguments);
  }
}

// A child that does what its jobs say: echo, hang, die. Speaks the protocol of the judge's child.
import { writeSync } from 'node:fs';

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { answer, solutions, examine } = JSON.parse(line);
    const does = [answer, examine, ...(solutions ?? [])];
    if (does.includes('hang')) for (;;);
    if (does.includes('die')) process.exit(3);
    // As a machine without memory, or somebody, does it.
    if (does.includes('killed')) process.kill(process.pid, 'SIGKILL');
    const reply =
      examine === undefined
        ? { verdict: 'right', reason: answer }
        : examine === 'unread'
          ? { usable: false, reason: 'unread' }
          : { usable: true };
    writeSync(1, `${JSON.stringify(does.includes('fault') ? { fault: 'a bug' } : { result: reply })}\n`);
  }
});
process.stdin.on('end', () => process.exit(0));
writeSync(1, 'ready\n');

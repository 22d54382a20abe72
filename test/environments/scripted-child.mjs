// A child that does what its jobs say: echo, hang, die. Speaks the protocol of the judge's child.
import { writeSync } from 'node:fs';

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { answer } = JSON.parse(line);
    if (answer === 'hang') for (;;);
    if (answer === 'die') process.exit(3);
    writeSync(1, `${JSON.stringify({ verdict: 'right', reason: answer })}\n`);
  }
});
process.stdin.on('end', () => process.exit(0));
writeSync(1, 'ready\n');

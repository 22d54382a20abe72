// The cost of a call of an agent's program over the model's own time: milliseconds as the program sees them, and processor time of
// worker and Temporal server.
//   npm run build && node test/bench/agent-calls.mjs [rollouts in flight: 16] [ms of the model: 1000] [calls of each: 30] [rounds: 3]
//     [words of the first message: 0]

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAgentRig } from './agent-rig.mjs';

const given = process.argv.slice(2).map(Number);
const [inFlight = 16, delayMs = 1000, calls = 30, rounds = 3, words = 0] = given;
const rig = await openAgentRig({ delayMs, rollouts: inFlight });
const times = join(rig.folder, 'times');
const program = join(rig.folder, 'agent.mjs');
writeFileSync(
  program,
  `import { appendFileSync, readFileSync } from 'node:fs';
const { question } = JSON.parse(readFileSync(process.env.EVERTURN_ROW));
const messages = [{ role: 'user', content: question + ' 1'.repeat(${words}) }];
let took = '';
for (let call = 0; call < ${calls}; call++) {
  const began = performance.now();
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'any', messages }),
  });
  const { choices } = await response.json();
  took += performance.now() - began + '\\n';
  messages.push(choices[0].message, { role: 'user', content: 'Go on.' });
}
appendFileSync(${JSON.stringify(times)}, took);
`,
);

try {
  for (let round = 0; round <= rounds; round++) {
    writeFileSync(times, '');
    const before = rig.cpu();
    const began = performance.now();
    await rig.run(`agents-${round}`, `node ${program}`);
    // The first one starts the service.
    if (round === 0) continue;
    const seconds = (performance.now() - began) / 1000;
    const after = rig.cpu();
    const took = readFileSync(times, 'utf8')
      .trim()
      .split('\n')
      .map(Number)
      .toSorted((a, b) => a - b);
    const added = (share) => (took[Math.floor(share * took.length)] - delayMs).toFixed(0);
    const each = (part) => ((1000 * (after[part] - before[part])) / took.length).toFixed(1);
    console.log(
      `${inFlight} in flight, ${took.length} calls, ${(took.length / seconds).toFixed(0)}/s: ${added(0.5)} ms more than ${delayMs} at ` +
        `the median, ${added(0.95)} at p95; processor time of a call: worker ${each('worker')} ms, Temporal ${each('temporal')} ms`,
    );
  }
} finally {
  rig.close();
}

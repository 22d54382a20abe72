// The time of a reply of a user's own environment through the doors command and module, its own included (some hundredths
// of a millisecond): the median by the clock, and this process's CPU time.
//   npm run build && npx vitest bench test/bench/environment.bench.ts

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench, describe } from 'vitest';
import type * as OwnModule from '../../environments/own/own-environments.ts';
import type * as SpecModule from '../../environments/own/spec.ts';
import { putCode } from '../../records/run/code.ts';
import { moveOf, NEVER, rolloutOf } from '../environments/own/rollouts.ts';

const built = new URL('../../dist/environments/own/', import.meta.url).href;
const { createOwnEnvironments, describeEnvironment } = (await import(
  `${built}own-environments.js`
)) as typeof OwnModule;
const { parseSpec } = (await import(`${built}spec.js`)) as typeof SpecModule;
const HERE = join(import.meta.dirname, '../environments/own');
const REPLIES = Number(process.env['REPLIES'] ?? 2000);
const figures: Record<string, object> = {};

async function measured(spec: string): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-bench-'));
  const own = createOwnEnvironments({ log: () => undefined, permitted: ({ spec: words }) => words, processes: 1 });
  try {
    const { record, code } = await describeEnvironment(parseSpec(spec, HERE), () => undefined);
    if (code) await putCode(folder, code);
    const environment = own.open(record, folder);
    const move = moveOf(rolloutOf(record, { name: 'g' }, 'g'), 'I say 1.');
    for (let n = 0; n < 100; n++) await environment.respond(move, { signal: NEVER });
    const times: number[] = [];
    const cpu = process.cpuUsage();
    for (let n = 0; n < REPLIES; n++) {
      const at = performance.now();
      await environment.respond(move, { signal: NEVER });
      times.push(performance.now() - at);
    }
    const { user, system } = process.cpuUsage(cpu);
    times.sort((a, b) => a - b);
    const round = (ms: number) => Math.round(ms * 1000) / 1000;
    return {
      medianMs: round(times[times.length >> 1]!),
      p90Ms: round(times[Math.floor(times.length * 0.9)]!),
      cpuMs: round((user + system) / 1000 / REPLIES),
    };
  } finally {
    await own.close();
    rmSync(folder, { recursive: true });
  }
}

describe('a reply of an environment of the user’s own', () => {
  bench(
    'through the doors command and module',
    async () => {
      figures['command'] = await measured('python3 guess.py none');
      figures['module'] = await measured('./guess-none.ts');
      console.log(JSON.stringify(figures));
    },
    { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
  );
});

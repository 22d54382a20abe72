// What a judging process has found leaves it at once, whatever it does next.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { newOutboxMemory, openOutbox } from '../../environments/math/pool/outbox.ts';
import { compiledRoom } from '../support/compiled.ts';

describe('the outbox of a judging process', () => {
  test('lines leave in order and together, also when they are more than the memory holds', () => {
    const writes: string[] = [];
    const outbox = openOutbox(newOutboxMemory(), (bytes) => writes.push(Buffer.from(bytes).toString()));
    const lines = [...Array.from({ length: 900 }, (_, n) => `é${n}`.repeat(80)), 'x'.repeat(300_000), 'the last'];
    for (const line of lines) outbox.put(line);
    outbox.send();
    outbox.send();
    expect(writes.join('')).toBe(lines.map((line) => `${line}\n`).join(''));
    expect(writes.length).toBeLessThan(10);
  });

  test('a reply before a hang goes out while the process hangs', async () => {
    const math = `${compiledRoom('environments')}/math`;
    const script = `
    import { Worker } from 'node:worker_threads';
    import { newOutboxMemory, openOutbox } from ${JSON.stringify(`${math}/pool/outbox.js`)};
    const memory = newOutboxMemory();
    const watch = new Worker(${JSON.stringify(`${math}/pool/child-watch.js`)}, { workerData: { memory, cpuLimitMs: 600_000 }, execArgv: [] });
    const outbox = openOutbox(memory);
    watch.once('online', () => { outbox.busy(true); outbox.put('found'); for (;;); });
  `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    expect(bytes.toString()).toBe('found\n');
  });
});

// Requests while an adapter is in force: each names it, and its answer has its label, whatever comes meanwhile; a server that
// lacks it gets none.

import { afterEach, describe, expect, test } from 'vitest';
import type { NamedAdapter } from '../../domain/weights/adapter.ts';
import type { LateServers } from '../../inference/backend.ts';
import { ask, closeAll, fleet, servers } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';

afterEach(closeAll);

const KINDS = ['vllm', 'sglang'] as const;
const adapterOf = (label: string): NamedAdapter => ({ name: `everturn-${label}`, base: 'default', label });

function inForce(label: string): LateServers & { now: NamedAdapter; asked: number } {
  const late = {
    asked: 0,
    now: adapterOf(label),
    wanted: async () => null,
    adapter: async () => late.now,
    update: () => void late.asked++,
  };
  return late;
}
const give = ({ engine, url }: ModelServer, label: string) =>
  // SGLang's toy takes a name only by its path.
  engine.shape.kind === 'vllm'
    ? void engine.adapters.set(`everturn-${label}`, `/ckpt/${label}`)
    : fetch(`${url}/load_lora_adapter`, {
        method: 'POST',
        body: JSON.stringify({ lora_name: `everturn-${label}`, lora_path: `/ckpt/${label}` }),
      });
const labels = (reply: { readonly versions: readonly { readonly versionLabel?: string }[] }) =>
  reply.versions.map(({ versionLabel }) => versionLabel);

describe.each(KINDS)('an adapter in force on %s', (kind) => {
  test('answers every request under its label, and is asked again under its name where that says something', async () => {
    const [server] = await servers(1, { kind, adapters: 'taken', meaning: 'policy' });
    await give(server!, '7');
    const backend = await fleet([server!], { late: inForce('7'), recheckEvery: 1 });
    const reply = await ask(backend, 'run/q/0');
    expect(reply.versions).toMatchObject([{ version: 7, versionLabel: '7', start: 0, end: reply.outputIds.length }]);
    expect(server!.engine.log.at(-1)!.weights).not.toContain('default');
    // vLLM's logprobs of contexts are wrong beside adapters.
    const answers = kind === 'vllm' ? 0 : 1;
    expect(backend.serverStatus!()[0]).toMatchObject({ version: 7, rechecks: { answers, differed: 0 } });
    const asksContexts = server!.seen.some(({ body }) => 'prompt_logprobs' in { ...body, ...body.sampling_params });
    expect(asksContexts).toBe(false);
  });

  test('goes over to the next at the next request; an answer ends with the one with which it began', async () => {
    let held = true;
    const [server] = await servers(1, { kind, adapters: 'taken', held: () => held });
    await give(server!, '7');
    const late = inForce('7');
    const backend = await fleet([server!], { late });
    const first = ask(backend, 'run/q/0');
    await expect.poll(() => server!.running()).toBe(1);
    await give(server!, '8');
    late.now = adapterOf('8');
    const second = ask(backend, 'run/q/1');
    await expect.poll(() => server!.running()).toBe(2);
    if (kind === 'vllm') server!.engine.adapters.delete('everturn-7');
    held = false;
    expect(labels(await first)).toEqual(['7']);
    expect(labels(await second)).toEqual(['8']);
    expect(backend.serverStatus!()[0]).toMatchObject({ fellFrom: null });
  });

  test('that a server lacks keeps requests from it, until it has it', async () => {
    const all = await servers(2, { kind, adapters: 'taken' });
    await give(all[0]!, '7');
    const late = inForce('7');
    const backend = await fleet(all, { late });
    for (let q = 0; q < 8; q++) expect((await ask(backend, `run/q${q}/0`)).server).toBe(all[0]!.url);
    expect(late.asked).toBeGreaterThan(0);
    await give(all[1]!, '7');
    await expect.poll(() => backend.serverStatus!()[1]!.state, { timeout: 5000 }).not.toBe('down');
    const homes = new Set<string | null>();
    for (let q = 0; q < 40; q++) homes.add((await ask(backend, `run/q${q}/0`)).server);
    expect(homes.size).toBe(2);
  });

  test('that was lost unseen is a failure to try again, and asks for an update', async () => {
    const [server] = await servers(1, { kind, adapters: 'taken' });
    const late = inForce('7');
    await give(server!, '7');
    const backend = await fleet([server!], { late });
    late.now = adapterOf('8');
    await expect(ask(backend, 'run/q/0')).rejects.toMatchObject({ reason: 'old-weights', retryable: true });
    expect(late.asked).toBeGreaterThan(0);
  });

  test('over another model than it belongs to gives no answer', async () => {
    const [server] = await servers(1, { kind, adapters: 'taken' });
    await give(server!, '7');
    const backend = await fleet([server!], { late: inForce('7') });
    server!.engine.version = 'of-somebody-else';
    await expect(ask(backend, 'run/q/0')).rejects.toMatchObject({ reason: 'version-moved', retryable: true });
  });
});

// An adapter as new weights of a server: what is loaded under which name, what proves that it answers, and what is said where
// it does not.

import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AdapterToLoad } from '../../domain/weights/adapter.ts';
import { adapterHash, weightServer } from '../../inference/weights/index.ts';
import { adapterFolder } from '../support/adapter-folder.ts';
import { closeAll, serverOf } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { updateControls } from '../support/weights.ts';

afterEach(closeAll);

const KINDS = ['vllm', 'sglang'] as const;
const scratch = scratchFolder();
const folderOf = (version: number | string) => adapterFolder(join(scratch, String(version)));
const named = (label: string) => ({ name: `everturn-${label}`, base: 'default', label });

async function update(
  { url, engine }: ModelServer,
  version: number,
  { folder = folderOf(version), ...more }: Partial<AdapterToLoad> & { readonly folder?: string } = {},
) {
  const label = String(version);
  const hash = more.hash ?? (await adapterHash(folder));
  const adapter: AdapterToLoad = { ...named(label), hash, known: [named(label)], held: [named(label).name], ...more };
  const controls = weightServer(`${engine.shape.kind}:${url}`, url, null, adapter);
  try {
    return (await updateControls(new Map([[url, controls]]), { from: folder, version: label }))[0]!;
  } finally {
    await controls.close();
  }
}
const asked = ({ seen }: ModelServer) => seen.map(({ path }) => path);

describe.each(KINDS)('an adapter for %s', (kind) => {
  test('answers under its name, which is there only once it is proved; the model keeps its label', async () => {
    const server = await serverOf({ kind, adapters: 'taken' });
    const listed: string[][] = [];
    server.hold = async (path, when) => {
      if (when === 'before' && /generate|completions/.test(path)) listed.push([...server.engine.adapters.keys()]);
    };
    expect(await update(server, 7)).toMatchObject({ state: 'updated', before: null, now: '7' });
    expect([...server.engine.adapters]).toEqual([['everturn-7', folderOf(7)]]);
    // The model's answer, and then the other one.
    expect(listed.slice(0, 2)).toEqual([[], ['everturn-7-trial']]);
    expect(server.engine).toMatchObject({ version: 'default', paused: false });
    expect(asked(server).filter((path) => path.includes('pause'))).toEqual([]);
  });

  test('that answers as the model does is refused, and leaves nothing behind; one of zeros is taken', async () => {
    const server = await serverOf({ kind, adapters: 'ignored' });
    expect(await update(server, 7)).toMatchObject({ state: 'refused', reason: 'adapter-not-used' });
    expect(server.engine.adapters.size).toBe(0);
    const folder = adapterFolder(join(scratch, 'zero'), 'zero', true);
    expect(await update(server, 8, { folder })).toMatchObject({ state: 'updated', now: '8' });
  });

  test('is loaded once, whatever a killed update left; repeated, it is there already', async () => {
    const server = await serverOf({ kind, adapters: 'taken' });
    server.engine.adapters.set('everturn-7-trial', '/of/a/killed/update');
    expect(await update(server, 7)).toMatchObject({ state: 'updated' });
    expect([...server.engine.adapters.keys()]).toEqual(['everturn-7']);
    const before = asked(server).length;
    expect(await update(server, 7)).toMatchObject({ state: 'already' });
    expect(asked(server).slice(before)).toEqual(['/v1/models', '/v1/models']);
  });

  test('puts out those that no request names any more, and no others', async () => {
    const server = await serverOf({ kind, adapters: 'taken' });
    for (const name of ['everturn-5', 'everturn-6', 'of-somebody-else']) server.engine.adapters.set(name, '/x');
    const known = ['4', '5', '6', '7'].map(named);
    const done = await update(server, 7, { known, held: ['everturn-6', 'everturn-7'] });
    expect(done).toMatchObject({ state: 'updated', before: '6', now: '7' });
    expect([...server.engine.adapters.keys()].sort()).toEqual(['everturn-6', 'everturn-7', 'of-somebody-else']);
  });

  test('that a server cannot load, or of which the files have changed, is refused, and the one before goes on', async () => {
    const server = await serverOf({ kind, adapters: 'taken' });
    await update(server, 6);
    const folder = adapterFolder(join(scratch, 'nonexistent'));
    expect(await update(server, 7, { folder })).toMatchObject({
      state: 'refused',
      error: expect.stringContaining('nonexistent') as string,
    });
    expect(await update(server, 7, { hash: 'f'.repeat(64) })).toMatchObject({ reason: 'model-changed' });
    expect([...server.engine.adapters.keys()]).toEqual(['everturn-6']);
  });

  test('is refused by a server that takes none, with how to start it', async () => {
    const server = await serverOf({ kind, adapters: 'none' });
    const done = await update(server, 7);
    expect(done).toMatchObject({ state: 'refused', error: expect.stringContaining('enable-lora') as string });
  });
});

describe('the folder of an adapter', () => {
  test('is known by the content of both files, wherever it lies', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(scratch, 'hash', name));
    const hash = await adapterHash(adapterFolder(a!, 'words'));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await adapterHash(adapterFolder(b!, 'words'))).toBe(hash);
    expect(await adapterHash(adapterFolder(c!, 'other'))).not.toBe(hash);
  });

  test('is refused with what it lacks', async () => {
    await expect(adapterHash(join(scratch, 'absent'))).rejects.toMatchObject({ reason: 'no-weights' });
    await expect(adapterHash(join(scratch, 'absent'))).rejects.toThrow('holds no adapter');
  });
});

// Other weights for a fleet: what each server is asked, in which order, and what is said of one that fails.

import { afterEach, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { WeightServer } from '../../domain/weights/weights.ts';
import { weightServers } from '../../inference/weights/index.ts';
import { closeAll, servers } from '../support/fleet-rig.ts';
import type { ModelServer } from '../support/model-server.ts';
import { updateControls, updateModel } from '../support/weights.ts';

afterEach(closeAll);

const KINDS = ['sglang', 'vllm'] as const;
const update = (of: readonly ModelServer[], step: number, folder = `/ckpt/step-${step}`) =>
  updateModel(`${of[0]!.engine.shape.kind}:${of.map(({ url }) => url).join(',')}`, {
    from: folder,
    version: `step-${step}`,
  });
const states = (updates: readonly { readonly state: string }[]) => updates.map(({ state }) => state);
const posts = ({ seen }: ModelServer) => seen.flatMap(({ method, path }) => (method === 'POST' ? [path] : []));

describe('a weight update', () => {
  test.each(KINDS)('repeated, an update of %s ends what a killed one began', async (kind) => {
    const [server] = await servers(1, { kind });
    server!.engine.paused = true;
    server!.engine.load('/ckpt/step-7'); // and killed before the version was said
    expect(states(await update([server!], 7))).toEqual(['updated']);
    expect(server!.engine).toMatchObject({ version: 'step-7', paused: false });
    server!.engine.paused = true; // killed before it was let go on
    expect(states(await update([server!], 7))).toEqual(['already']);
    expect(server!.engine.paused).toBe(false);
  });

  test('an SGLang that cannot load the folder goes on with its old weights, and the others are not asked', async () => {
    const all = await servers(3, { kind: 'sglang' });
    const done = await update(all, 7, '/ckpt/nonexistent');
    expect(states(done)).toEqual(['refused', 'not-asked', 'not-asked']);
    expect(done[0]!.error).toContain('/ckpt/nonexistent');
    for (const { engine } of all) expect(engine).toMatchObject({ version: 'default', paused: false });
    expect(all.slice(1).flatMap(posts)).toEqual([]);
  });

  test('a vLLM that failed to load a folder says that nobody knows its weights, and goes on', async () => {
    const all = await servers(2, { kind: 'vllm' });
    expect(states(await update(all, 7, '/ckpt/nonexistent'))).toEqual(['unsure', 'not-asked']);
    expect(all.map(({ engine }) => engine.paused)).toEqual([false, false]);
    expect(all.map(({ engine }) => engine.version)).toEqual(['unsure/step-7?', 'default']);
    expect(states(await update(all, 7))).toEqual(['updated', 'updated']);
    expect(all.map(({ engine }) => engine.paused)).toEqual([false, false]);
  });

  test('one that fails after the first leaves a mixed fleet, and each is named with its version', async () => {
    const [first] = await servers(1, { kind: 'sglang' });
    const [second] = await servers(1, { kind: 'sglang', folders: [] });
    expect(await update([first!, second!], 7)).toMatchObject([
      { url: first!.url, state: 'updated', now: 'step-7' },
      { url: second!.url, state: 'refused', now: 'default', reason: 'request-refused' },
    ]);
  });

  test('a vLLM outside its development mode says what it was started without', async () => {
    const done = await update(await servers(1, { kind: 'vllm', devMode: false }), 7);
    expect(done).toMatchObject([{ state: 'unreached', error: expect.stringContaining('VLLM_SERVER_DEV_MODE=1') }]);
  });

  test('only servers that can be told, and embedded models, take other weights', () => {
    expect(weightServers('tiny')).toBeNull();
    expect(weightServers('vllm:http://a,http://b')).toEqual(['http://a', 'http://b']);
    expect(() => weightServers('openai:http://a#m')).toThrow(
      expect.objectContaining({ reason: 'no-weights-to-update' }),
    );
  });

  /** A server in which one step goes wrong. */
  function scripted(broken: Partial<WeightServer>): WeightServer & { paused: boolean } {
    let version = 'old';
    const self = {
      url: 'http://scripted',
      close: async () => undefined,
      paused: false,
      version: async () => version,
      pause: async () => void (self.paused = true),
      load: async (_: string, word: string) => void (version = word),
      resume: async () => void (self.paused = false),
      name: async (word: string) => void (version = word),
      keptItsWeights: () => false,
      ...broken,
    };
    return self;
  }
  const lost = () => Promise.reject(new ModelError('lost', { reason: 'server-reset', retryable: true }));
  const NEW = { from: '/x', version: 'new' };

  const updateAll = (all: readonly WeightServer[], options = {}) =>
    updateControls(new Map(all.map((server, i) => [`http://${i}`, server])), NEW, options);

  test('a server whose pause was not answered is let go on', async () => {
    const server = scripted({ pause: lost });
    server.paused = true; // it did pause
    expect(await updateAll([server])).toMatchObject([{ state: 'unreached', reason: 'server-reset' }]);
    expect(server.paused).toBe(false);
  });

  test('a server that says another version than it was given goes on as one of which nobody is sure', async () => {
    const server = scripted({ load: async () => undefined });
    expect(await updateAll([server])).toMatchObject([
      { state: 'unsure', reason: 'version-not-taken', now: 'unsure/new?' },
    ]);
    expect(server.paused).toBe(false);
  });

  test('a server that cannot be let go on is said to be paused', async () => {
    expect(await updateAll([scripted({ resume: lost })])).toMatchObject([{ state: 'paused', now: 'new' }]);
  });

  test('whoever wishes to stop leaves no server in the middle', async () => {
    let stop = false;
    const all = [scripted({}), scripted({}), scripted({})];
    const done = await updateAll(all, { stopped: () => stop, onServer: () => (stop = true) });
    expect(states(done)).toEqual(['updated', 'not-asked', 'not-asked']);
    expect(all.map(({ paused }) => paused)).toEqual([false, false, false]);
  });

  test('a server that is started again between two steps gets the weights once more', async () => {
    let starts = 1;
    const server = scripted({});
    const resume = server.resume;
    server.resume = async () => {
      await resume();
      if (starts++ === 1) await server.name('old'); // a new process
    };
    expect(await updateAll([server])).toMatchObject([{ state: 'updated', now: 'new' }]);
    expect(await server.version()).toBe('new');
    const never = scripted({});
    never.resume = async () => never.name('old');
    expect(await updateAll([never])).toMatchObject([{ state: 'unreached', now: 'old', reason: 'version-not-taken' }]);
  });
});

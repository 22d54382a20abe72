// Weights that change behind our back: no token is ever said to be of other weights than those that made it. The
// scripted model answers otherwise with each version, so each token's own logprob says which one it was.

import { describe, expect, test } from 'vitest';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { createTokenBackend } from '../support/kinds.ts';
import { undisturbed } from '../contract/backend.ts';
import { modelServer } from '../support/model-server.ts';
import { weightsOf } from '../support/toy-engine.ts';
import { draw } from '../support/toy-model.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const ROLLOUTS = 40;
const UPDATES = 10;

describe('the versions of a fleet', () => {
  test.each(['sglang', 'vllm'] as const)(
    'updates under rollouts leave no token of %s with a wrong version',
    async (kind) => {
      const shape = { kind, modelPath: TINY_FOLDER, msPerToken: 1, meaning: 'policy' as const };
      const servers = await Promise.all([modelServer(shape), modelServer(shape)]);
      const urls = servers.map(({ url }) => url).join(',');
      const backend = await createTokenBackend(`${kind}:${urls}`, { tokenizer: null, log: () => undefined });
      let wrong = 0;
      let spans = 0;
      let tokens = 0;
      let updates = 0;
      const rollout = async (q: number) => {
        const context = [q % 600, 5, 6];
        const result = await backend.generate(
          {
            requestId: `run/q${q}/0/1`,
            contextIds: context,
            maxNewTokens: 20,
            sampling: DEFAULT_SAMPLING,
            seed: q,
            deterministic: false,
            stopTokenIds: [],
          },
          undisturbed(),
        );
        spans += result.versions.length;
        for (const { versionLabel, version, start, end } of result.versions) {
          expect(version).toBe(versionLabel === 'default' ? 0 : Number(versionLabel!.slice('step-'.length)));
          for (let i = start; i < end; i++) {
            tokens++;
            const before = [...context, ...result.outputIds.slice(0, i)];
            const how = { temperature: 1, topP: 1, topK: -1, seed: q, top: 0, meaning: 'policy' as const };
            const { id, logprob } = draw(before, 692, weightsOf(versionLabel!), how);
            if (id !== result.outputIds[i] || logprob !== result.logprobs[i]) wrong++;
          }
        }
        // An update each time that a few are done, in the middle of the others.
        if (q % (ROLLOUTS / UPDATES) === 0) for (const server of servers) server.engine.version = `step-${++updates}`;
      };
      const queue = Array.from({ length: ROLLOUTS }, (_, q) => q);
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let q = queue.shift(); q !== undefined; q = queue.shift()) await rollout(q);
        }),
      );
      await backend.close();
      await Promise.all(servers.map((server) => server.close()));
      expect(updates).toBe(2 * UPDATES);
      expect(tokens).toBe(ROLLOUTS * 20);
      expect(spans).toBeGreaterThan(ROLLOUTS); // some turns did see an update
      expect(wrong).toBe(0);
    },
  );
});

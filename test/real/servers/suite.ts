// What real servers of one kind must show: the contract, many at once, pauses and aborts, logprobs that are what they
// are said to be, new weights in the middle of turns, fleets, and being killed. Prints figures; asserts no speed.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenBackend } from '../../../inference/backend.ts';
import { createTokenBackend } from '../../support/kinds.ts';
import { aRequest, backendContract, undisturbed } from '../../contract/backend.ts';
import { agentTests } from './agent-tests.ts';
import { claimTests } from './claim-tests.ts';
import { evaluationTests } from './evaluation-tests.ts';
import { honestTests } from './honest-tests.ts';
import { keptTests } from './kept-tests.ts';
import { oneServerTests } from './one-server-tests.ts';
import { LONG, type Place, type Traits } from './place.ts';
import { realServer, type RealServer } from './real-server.ts';
import { runTests } from './run-tests.ts';
import { weightTests } from './weight-tests.ts';

export function suite(traits: Traits): void {
  const { kind } = traits;
  let servers: RealServer[] = [];
  let backend: TokenBackend;
  const say = (line: string) => process.stdout.write(`${kind}: ${line}\n`);
  const open: Place['open'] = (...of) =>
    createTokenBackend(`${kind}:${of.map(({ url }) => url).join(',')}`, { tokenizer: null, log: say });
  const place: Place = {
    traits,
    first: () => servers[0]!,
    second: () => servers[1]!,
    backend: () => backend,
    open,
    say,
    ask: async (question, changes = {}, of = backend) =>
      of.generate(await aRequest(of, question, changes), undisturbed()),
  };

  describe(`a real ${kind}`, () => {
    beforeAll(async () => {
      // One after the other: SGLang measures free memory as it starts.
      for (const which of [1, 2] as const) {
        const startedAt = performance.now();
        servers = [...servers, await realServer(kind, which, which === 1 ? traits.first : traits.second)];
        say(`up at ${servers.at(-1)!.url} after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
      }
      backend = await open(servers[0]!);
      say(JSON.stringify(backend.facts));
    });
    afterAll(async () => {
      for (const server of servers) await server.kill();
      await backend?.close();
    });

    backendContract(kind, { open: () => open(servers[0]!), question: 'What is 34 * 27?', seeded: traits.seeded });
    claimTests(place);
    oneServerTests(place);
    if (traits.saysSets) keptTests(place);
    weightTests(place);
    const isRaw = traits.first.meaning === 'raw';
    const [one, other] = isRaw ? [place.first, place.second] : [place.second, place.first];
    honestTests(
      () => ({
        raw: `${kind}:${one().url}`,
        other: `${kind}:${other().url}`,
        both: `${kind}:${one().url},${other().url}`,
        rawFlags: '--logprobs raw',
      }),
      say,
    );
    agentTests(place, one);
    evaluationTests(place);
    runTests(place);

    test('a server that is killed in the middle of a turn is a failure to try again', async () => {
      const outcome = place.ask('Count.', LONG).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await servers[0]!.kill();
      expect(await outcome).toMatchObject({ name: 'ModelError', reason: 'server-reset', retryable: true });
      const next = await place.ask('What is 2 + 2?').catch((error: unknown) => error);
      expect(next).toMatchObject({ name: 'ModelError', reason: 'server-unreachable', retryable: true });
      say(`killed: ${(next as Error).message}`);
    });
  });
}

import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeEngine, ENGINE_LIMITS, type EngineLimits } from '../../inference/decode/engine.ts';
import type { DecodeRequest, DecodeResult } from '../../inference/decode/row.ts';
import type { ModelTraits } from '../../inference/decode/step-model.ts';
import { HISTORY_VOCABULARY, historyModel } from '../support/history-model.ts';

const TRAITS: ModelTraits = { padding: true, alignment: 8, exactUpTo: 64 };
const SMALL: EngineLimits = { ...ENGINE_LIMITS, maxRows: 5, readyRows: 2, prefillBlock: 16, prefillPerStep: 32 };

function request(changes: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    contextIds: [1, 2, 3],
    maxNewTokens: 10,
    sampling: { temperature: 1, topK: 1e8, topP: 1 },
    seed: 1,
    deterministic: true,
    stopTokenIds: [0],
    ...changes,
  };
}

const anyRequest = fc
  .record({
    contextLength: fc.integer({ min: 1, max: 90 }),
    beginning: fc.integer({ min: 0, max: 2 }),
    maxNewTokens: fc.integer({ min: 1, max: 50 }),
    temperature: fc.constantFrom(0, 0.7, 1, 1.5),
    topK: fc.constantFrom(3, 1e8),
    seed: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
    deterministic: fc.boolean(),
    stops: fc.boolean(),
  })
  .map(({ contextLength, beginning, temperature, topK, stops, ...rest }) =>
    request({
      ...rest,
      contextIds: Array.from({ length: contextLength }, (_, i) => (i * 5 + beginning * 3 + 1) % HISTORY_VOCABULARY),
      sampling: { temperature, topK, topP: 1 },
      stopTokenIds: stops ? [0, 4] : [],
    }),
  );

const anyCompany = fc.array(
  fc.record({ request: anyRequest, afterTurns: fc.nat(40), cancelAfter: fc.option(fc.nat(60), { freq: 5 }) }),
  { minLength: 1, maxLength: 14 },
);

async function alone(traits: ModelTraits, request: DecodeRequest): Promise<DecodeResult> {
  return new DecodeEngine(historyModel(), traits, SMALL).generate(1, request);
}

describe.each([
  ['', TRAITS],
  [', where nothing is proven', { ...TRAITS, alignment: 0, exactUpTo: 0 }],
  [', where padding means something else', { padding: false, alignment: 0, exactUpTo: 0 }],
])('a deterministic request%s', (_, traits) => {
  test('gets the same tokens and logprobs in any company as alone', async () => {
    await fc.assert(
      fc.asyncProperty(anyCompany, async (company) => {
        const engine = new DecodeEngine(historyModel(), traits, SMALL);
        const together = await Promise.all(
          company.map(async ({ request, afterTurns, cancelAfter }, id) => {
            for (let turn = 0; turn < afterTurns; turn++) await nextTurn();
            const result = engine.generate(id, request).catch(() => null);
            for (let turn = 0; cancelAfter !== null && turn < cancelAfter; turn++) await nextTurn();
            if (cancelAfter !== null) engine.cancel(id);
            return result;
          }),
        );
        for (const [i, { request, cancelAfter }] of company.entries()) {
          const result = together[i]!;
          if (cancelAfter === null) expect(result).not.toBeNull();
          if (!result || !request.deterministic) continue;
          expect(result).toEqual(await alone(traits, request));
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the decode loop', () => {
  test('answers the first come first when there is no room for all', async () => {
    const engine = new DecodeEngine(historyModel(), TRAITS, { ...SMALL, maxRows: 1, readyRows: 0 });
    const order: number[] = [];
    await Promise.all([0, 1, 2, 3].map((id) => engine.generate(id, request({ seed: id })).then(() => order.push(id))));
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test('never has more rows in a step, nor more keys and values, than its limits say', async () => {
    const model = historyModel();
    const batchBytes = 2 * 2 * 4 * 100; // 100 slots in all
    const engine = new DecodeEngine(model, TRAITS, { ...SMALL, batchBytes });
    await Promise.all(
      Array.from({ length: 12 }, (_, id) =>
        engine.generate(id, request({ contextIds: Array(20 + id).fill(2), maxNewTokens: 6, stopTokenIds: [] })),
      ),
    );
    for (const { rows, past } of model.steps) {
      expect(rows).toBeLessThanOrEqual(SMALL.maxRows);
      if (rows > 1) expect(rows * past!.slots).toBeLessThanOrEqual(100 + rows * 6);
    }
  });

  test('gives an answer cut into chunks the tokens of the whole one', async () => {
    const whole = await new DecodeEngine(historyModel(), TRAITS).generate(
      1,
      request({ maxNewTokens: 30, stopTokenIds: [] }),
    );
    const engine = new DecodeEngine(historyModel(), TRAITS);
    const outputIds: number[] = [];
    const logprobs: number[] = [];
    for (let chunk = 0; chunk < 3; chunk++) {
      const contextIds = [...Array.from(request().contextIds), ...outputIds];
      const part = await engine.generate(chunk, request({ contextIds, maxNewTokens: 10, stopTokenIds: [] }));
      outputIds.push(...part.outputIds);
      logprobs.push(...part.logprobs);
    }
    expect({ outputIds, logprobs, finish: 'length' }).toEqual(whole);
  });

  test('stops working on a cancelled request within a step', async () => {
    const model = historyModel();
    const engine = new DecodeEngine(model, TRAITS);
    const long = engine.generate(1, request({ maxNewTokens: 100_000, stopTokenIds: [] }));
    while (engine.progress().length === 0) await nextTurn();
    engine.cancel(1);
    const steps = model.steps.length;
    await expect(long).rejects.toMatchObject({ reason: 'cancelled' });
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(model.steps.length).toBeLessThanOrEqual(steps + 1);
  });

  test('fails the rows of a failed step, retryably, and answers the next request', async () => {
    const model = historyModel();
    let fail = false;
    const step = model.step.bind(model);
    const engine = new DecodeEngine(
      { ...model, step: (input) => (fail ? Promise.reject(new Error('out of memory')) : step(input)) },
      TRAITS,
    );
    const failing = [1, 2].map((id) => engine.generate(id, request({ maxNewTokens: 1000, stopTokenIds: [] })));
    while (engine.progress().length < 2) await nextTurn();
    fail = true;
    for (const result of await Promise.allSettled(failing)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { reason: 'decode-failed', retryable: true } });
    }
    fail = false;
    expect((await engine.generate(3, request())).outputIds.length).toBeGreaterThan(0);
  });
});

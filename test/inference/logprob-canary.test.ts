// What a server's logprobs are of, found out while its weights may change.

import { describe, expect, test } from 'vitest';
import { logprobMeaning, type AskPeek } from '../../inference/fleet/logprob-canary.ts';

/** Two tokens, `gap` apart in the model's own logits; logprobs after temperature. */
function model(version: string, gap: number): AskPeek {
  return async ({ temperature, topK }) => {
    const worse = -gap / temperature;
    const mass = Math.log(1 + Math.exp(worse));
    const byId = new Map([[1, -mass]]);
    if (topK !== 1) byId.set(2, worse - mass);
    return { sampled: 1, byId, version };
  };
}

describe('the probe of a server’s logprobs', () => {
  test('weights that change between two looks are not taken for a meaning', async () => {
    // Half the gap at half the temperature: as logprobs would be that know of no temperature.
    const [old, young] = [model('1', 2), model('2', 1)];
    let asked = 0;
    expect(await logprobMeaning(async (sampling) => (asked++ === 0 ? old : young)(sampling))).toBe('temperature');
  });

  test('weights that change for ever leave it unknown', async () => {
    let asked = 0;
    expect(await logprobMeaning((sampling) => model(String(asked++), 1)(sampling))).toBe('unknown');
  });
});

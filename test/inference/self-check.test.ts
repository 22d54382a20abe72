import { describe, expect, test } from 'vitest';
import { checkDecoding } from '../../inference/decode/self-check.ts';
import { historyModel } from '../support/history-model.ts';

describe('the self-check of a model', () => {
  test('finds the padding and the length up to which a batch is bit-equal to its rows', async () => {
    const { traits, cacheError } = await checkDecoding(historyModel({ lane: 8, block: 256 }), 2048);
    expect(traits).toEqual({ padding: true, alignment: 8, exactUpTo: 256 });
    expect(cacheError).toBe(0);
    expect((await checkDecoding(historyModel({ lane: 16, block: 1e9 }), 1024)).traits).toMatchObject({
      alignment: 16,
      exactUpTo: 1024,
    });
  });

  test('proves nothing where any padding rounds differently, or any length', async () => {
    expect((await checkDecoding(historyModel({ lane: 8, block: 64 }), 2048)).traits.exactUpTo).toBe(0);
    const { traits } = await checkDecoding(historyModel({ lane: 128, block: 1e9 }), 2048);
    expect(traits).toMatchObject({ padding: true, alignment: 0, exactUpTo: 0 });
  });

  test('keeps rows apart where the model takes padding for text', async () => {
    const { traits, paddingError } = await checkDecoding(
      historyModel({ lane: 8, block: 64, ignoresPadding: true }),
      512,
    );
    expect(traits).toMatchObject({ padding: false, alignment: 0, exactUpTo: 0 });
    expect(paddingError).toBeGreaterThan(1e-3);
  });

  test('refuses a model that answers differently with its cache', async () => {
    const check = checkDecoding(historyModel({ lane: 8, block: 64, forgets: 1 }), 512);
    await expect(check).rejects.toMatchObject({ name: 'ModelError', reason: 'model-cache-broken' });
  });
});

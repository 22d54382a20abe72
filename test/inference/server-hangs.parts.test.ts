// A server that hangs is not waited for as long as an answer may take; one that only takes its time is.

import { afterEach, describe, expect, test } from 'vitest';
import { openHttp, type Http } from '../../inference/http/http.ts';
import { watchHealth } from '../../inference/servers/health-watch.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';

let server: ModelServer;
let http: Http;
afterEach(async () => {
  await http.close();
  await server.close();
});

const OFTEN = { everyMs: 10, timeoutMs: 30, misses: 3 };
const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
const undisturbed = () => new AbortController().signal;

describe('a wait for a server', () => {
  test('gives up on a server that does not answer while requests wait, all of them at once', async () => {
    server = await modelServer({ kind: 'sglang' });
    http = openHttp({ url: server.url, apiKey: null });
    server.silent = true;
    const health = watchHealth(http, OFTEN);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => health.during(undisturbed(), never)));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { name: 'ModelError', reason: 'server-timeout', retryable: true },
      });
    }
  });

  test('waits for a server that is well, or that knows no such question', async () => {
    server = await modelServer({ kind: 'openai' });
    http = openHttp({ url: server.url, apiKey: null });
    const health = watchHealth(http, OFTEN);
    const looks = () => server.seen.filter(({ path }) => path === '/health').length;
    const done = await health.during(undisturbed(), async () => {
      await expect.poll(looks).toBeGreaterThan(5);
      return 'done';
    });
    expect(done).toBe('done');
  });

  test('an abort of the caller is passed on with its reason', async () => {
    server = await modelServer({ kind: 'openai' });
    http = openHttp({ url: server.url, apiKey: null });
    const controller = new AbortController();
    const waiting = watchHealth(http).during(controller.signal, never);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

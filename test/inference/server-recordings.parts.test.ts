// The scripted servers answer as real ones did: same status, same fields, same types, same words of refusal.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SGLANG_PARAMS } from '../support/toy-sglang.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { fixture } from '../support/tiny.ts';

interface Exchange {
  readonly name: string;
  readonly request: { readonly method: string; readonly path: string; readonly body: Record<string, unknown> | null };
  readonly response: { readonly status: number; readonly body: unknown };
}

describe('a scripted server', () => {
  for (const kind of ['sglang', 'vllm'] as const) {
    const exchanges = fixture(`servers/${kind}.json`) as Exchange[];
    let server: ModelServer;
    beforeAll(async () => {
      server = await modelServer({ kind, vocabSize: 512, length: 512 });
    });
    afterAll(() => server.close());

    test.each(exchanges)(`a scripted ${kind} answers "$name" as the real one did`, async ({ request, response }) => {
      const answer = await fetch(`${server.url}${request.path}`, {
        method: request.method,
        headers: { 'content-type': 'application/json' },
        ...(request.body === null ? {} : { body: textOf(request.body) }),
      });
      const text = await answer.text();
      expect(answer.status).toBe(response.status);
      const body: unknown = text === '' || text === '""' ? '' : JSON.parse(text);
      if (answer.ok) expect(shapeOf(body)).toEqual(shapeOf(response.body));
      else expect(firstLine(body)).toEqual(firstLine(response.body));
    });
  }

  test('a real SGLang lists the sampling parameters that the scripted one knows', () => {
    const refusal = (fixture('servers/sglang.json') as Exchange[]).find(
      ({ name }) => name === 'unknown-sampling-param',
    );
    const { error } = refusal!.response.body as { error: string };
    const known = [...error.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(known.slice(1)).toEqual(SGLANG_PARAMS);
  });
});

/** Long prompts are kept as a count of ones. */
function textOf(body: Record<string, unknown>): string {
  if (typeof body['raw'] === 'string') return body['raw'];
  const whole = Object.entries(body).map(([key, value]) => {
    const ones = typeof value === 'object' && value !== null && 'ones' in value ? Number(value.ones) : 0;
    return [key, ones ? Array.from({ length: ones }, () => 1) : value];
  });
  return JSON.stringify(Object.fromEntries(whole));
}

/** Keys and types. Arrays: those of their elements. A text as key (a token) counts as any. */
function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object') return typeof value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, v]) => [key, key === 'top_logprobs' && isRecords(v) ? 'by token' : shapeOf(v)]),
  );
}

function isRecords(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((v) => Object.values(v as object).every((x) => typeof x === 'number')) &&
    value.length > 0
  );
}

/** Of validation errors, which quote the server's own source, the first line is compared. */
function firstLine(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (_, v: unknown) => (typeof v === 'string' ? v.split('\n')[0] : v)));
}

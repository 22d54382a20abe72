// Servers that lie in a way that one reply does not show: answers exchanged, repeated, or of weights that nobody named.

import { afterEach, describe, expect, test } from 'vitest';
import { lineLabel } from '../../domain/feed/line.ts';
import { createBackend } from '../../inference/index.ts';
import { aTextRequest, undisturbed } from '../contract/backend.ts';
import { ask, closeAll, opened, serverAndBackend, serverOf } from '../support/fleet-rig.ts';
import { asText } from '../support/kinds.ts';
import type { Fault } from '../support/model-server.ts';
import type { Shape } from '../support/toy-engine.ts';

afterEach(closeAll);

type Json = Record<string, unknown>;
const meta = (whole: Json) => whole['meta_info'] as Json;
const choice = (whole: Json) => (whole['choices'] as Json[])[0]!;
const said = (asked: Promise<unknown>) =>
  asked.then(
    () => 'taken',
    (error: unknown) => (error as { flaw?: string }).flaw ?? String(error),
  );

/** Two faults: each of two requests at once gets the answer to the other. */
function exchanged(): [Fault, Fault] {
  const bodies: ((body: Json) => void)[] = [];
  const came = [0, 1].map((i) => new Promise<Json>((resolve) => (bodies[i] = resolve)));
  const fault = (own: number): Fault => ({
    change(whole) {
      bodies[own]!(structuredClone(whole));
      return came[1 - own];
    },
  });
  return [fault(0), fault(1)];
}

const KINDS: Shape[] = [{ kind: 'sglang' }, { kind: 'sglang', spans: false }, { kind: 'vllm' }];
const ALL: Shape[] = [...KINDS, { kind: 'vllm', scaleOut: false }];
const LONG = { maxNewTokens: 20 };

describe.each(ALL)('a server that confuses requests: %j', (shape) => {
  test('is refused for two answers that were exchanged, of equal length', async () => {
    const { server, backend } = await serverAndBackend(shape);
    server.fail(...exchanged());
    const both = [
      ask(backend, 'run/a/0', { contextIds: [5, 6, 7] }),
      ask(backend, 'run/b/0', { contextIds: [7, 6, 5] }),
    ];
    expect(await Promise.all(both.map(said))).toEqual(Array(2).fill('the answer to another request'));
  });

  test('is refused for the answer of another context, under the right name', async () => {
    const { server, backend } = await serverAndBackend(shape);
    let first: Json | undefined;
    const keep: Fault = { change: (whole) => void (first = structuredClone(whole)) };
    const repeat: Fault = {
      change(whole) {
        const { id, request_id } = whole;
        if (first!['meta_info']) return { ...first, meta_info: { ...meta(first!), id: meta(whole)['id'] } };
        const named = { ...choice(first!), prompt_token_ids: choice(whole)['prompt_token_ids'] };
        return { ...first, id, request_id, prompt_token_ids: whole['prompt_token_ids'], choices: [named] };
      },
    };
    server.fail(keep, repeat);
    await ask(backend, 'run/a/0', LONG);
    expect(await said(ask(backend, 'run/b/0', { ...LONG, contextIds: [9, 9, 9] }))).toBe(
      'the answer of another context',
    );
  });
});

const UNNAMED = 'no weight version';
/** Takes every word about versions out of a reply. */
const silent: Fault = {
  change(whole) {
    if (whole['meta_info']) {
      delete meta(whole)['weight_version'];
      delete meta(whole)['weight_versions'];
    } else delete choice(whole)['weight_versions'];
  },
};

describe.each(KINDS)('the version of an answer: %j', (shape) => {
  test('that the reply does not name is asked before and after it', async () => {
    const { server, backend } = await serverAndBackend(shape);
    server.engine.version = 'step-3';
    server.fail(silent);
    // The first such reply may come unasked, and is asked for again.
    await said(ask(backend, 'run/a/0'));
    server.heal();
    server.fail(silent);
    expect((await ask(backend, 'run/a/0')).versions).toEqual([
      { version: 3, versionLabel: 'step-3', start: 0, end: 4 },
    ]);
  });

  test('that changed while nobody named it is refused, for every reply', async () => {
    const { server, backend } = await serverAndBackend(shape);
    for (let i = 1; i < 4; i++) {
      server.fail({
        change(whole) {
          void (silent as { change: (whole: Json) => void }).change(whole);
          server.engine.version = `step-${i}`;
        },
      });
      await expect(ask(backend, 'run/a/0')).rejects.toMatchObject({ reason: 'version-moved', retryable: true });
    }
    expect((await ask(backend, 'run/a/0')).versions).toMatchObject([{ version: 3 }]);
  });

  test('that nobody names any more is refused, and is no version 0', async () => {
    const { server, backend } = await serverAndBackend(shape);
    server.engine.version = 'step-3';
    await ask(backend, 'run/a/0');
    server.instead = (path) =>
      path === '/weight_info' ? { status: 404 } : path === '/model_info' ? { status: 200, body: {} } : null;
    server.fail(silent, silent, silent);
    await said(ask(backend, 'run/a/0'));
    for (let i = 0; i < 2; i++) expect(await said(ask(backend, 'run/a/0'))).toBe(UNNAMED);
  });
});

describe('a server over a whole run', () => {
  test.each(KINDS)('two labels of one number are refused in a run, and not in another: %j', async (shape) => {
    const { server, backend } = await serverAndBackend(shape);
    const label = (name: string) => server.engine.name(name);
    label('epoch1/step5');
    await ask(backend, 'first/a/0');
    label('epoch2/step5');
    expect(await said(ask(backend, 'first/a/1'))).toBe('two weight versions of one number');
    await ask(backend, 'second/a/0');
    // The labels of a rewind say that the number comes again.
    for (const name of ['r1:v5', lineLabel(0, 5), lineLabel(1, 5)]) {
      label(name);
      await ask(backend, 'first/a/2');
    }
  });

  test.each(KINDS)('weights that go back are told until they are back: %j', async (shape) => {
    const lines: string[] = [];
    const { server, backend } = await serverAndBackend(shape, { log: (line: string) => void lines.push(line) });
    const fellFrom = () => backend.serverStatus!()[0]!.fellFrom;
    const told = () => lines.filter((line) => line.includes('went back'));
    server.engine.version = 'step-5';
    await ask(backend, 'run/a/0');
    server.engine.version = 'step-6';
    await ask(backend, 'run/a/1');
    expect(fellFrom()).toBeNull();
    for (const again of [0, 1]) {
      server.engine.version = 'default';
      await ask(backend, `run/a/${2 + again}`);
      expect(fellFrom()).toBe('step-6');
    }
    expect(told()).toEqual([expect.stringContaining('from the weights step-6 to default')]);
    server.engine.version = 'step-6';
    await ask(backend, 'run/a/4');
    expect(fellFrom()).toBeNull();
    server.engine.version = 'r1:v5';
    await ask(backend, 'run/a/5');
    expect([fellFrom(), told().length]).toEqual([null, 1]);
  });

  test('a text server that answers two conversations alike, to the last logprob, is refused', async () => {
    const server = await serverOf({ kind: 'openai' });
    const options = { tokenizer: null, log: () => undefined };
    const backend = asText(await createBackend(`openai:${server.url}#tiny`, options));
    opened.push(backend);
    let first: Json | undefined;
    server.fail({ change: (whole) => void (first = structuredClone(whole)) }, { change: () => first });
    const asked = (words: string) => backend.generate(aTextRequest(words, { maxNewTokens: 20 }), undisturbed());
    await asked('2 + 2?');
    expect(await said(asked('3 + 3?'))).toBe('the answer of another context');
  });
});

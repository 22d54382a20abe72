// A run of a model that gives text without token ids: settings that it cannot honour are refused before the run is made,
// an export for trainers says that it is empty, and no next step offers it.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { runPlace } from '../../run/place.ts';
import { answered } from '../../cli/command.ts';
import { showEnding } from '../../cli/play/ending.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { listenHttp } from '../support/http-listener.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';
import { countsOf, resultOf, scriptedIo } from './scripted-io.ts';

/** It refuses every key: a command that asks it ends at once. */
const server = await listenHttp((_, response) => response.writeHead(401).end('{}'));
afterAll(() => server.close());
const TEXT_MODEL = `openai:${server.url}/v1#m`;
const TEXT = { contextIds: [], outputIds: [], logprobs: [], versions: [], trainable: false };

let out: string;
beforeEach(() => {
  out = testFolder();
  writeFileSync(join(out, 'rows.jsonl'), '{"id":"a","question":"1 + 1?","answer":"2"}\n');
});

const run = (model: string, ...flags: readonly string[]) =>
  call(out, ['run', 'rows.jsonl', '--name', 'x', '--out', 'runs', '--model', model, ...flags]);

async function runOf(model: string, turn?: object) {
  const store = openFileStore(out, RUN);
  const settings = someSettings({ numTurns: 1, model });
  const query = aQuery('q', { prompt: { kind: 'messages', messages: [{ role: 'user', content: '1 + 1?' }] } });
  await putRun(store, [query], { settings });
  await play(store, { query, settings, verdicts: ['right'], ...(turn && { turn: () => turn }) });
}

describe('a setting that the model cannot honour', () => {
  test.each([
    [TEXT_MODEL, ['--top-k', '50'], '--top-k'],
    [TEXT_MODEL, ['--set', 'topK=50', '--deterministic'], '--top-k'],
  ])('is refused with exit code 2, and nothing is made: %s %j', async (model, flags, named) => {
    const { code, err } = await run(model, ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(`cannot honour ${named}`)]);
    expect(err).toContain(`Leave ${named} out.`);
    expect(existsSync(join(out, 'runs', 'x'))).toBe(false);
  });
});

describe('a setting that changes nothing', () => {
  test.each([
    [TEXT_MODEL, ['--new-tokens-per-chunk', '8'], '--new-tokens-per-chunk'],
    [TEXT_MODEL, ['--deterministic'], '--deterministic'],
    [`sglang:${server.url}`, ['--deterministic'], '--deterministic'],
    [`vllm:${server.url}`, ['--set', 'deterministic=true'], '--deterministic'],
  ])('is said: %s %j', async (model, flags, named) => {
    const { err } = await run(model, '--dry-run', ...flags);
    expect(err).toContain(`does not honour ${named}`);
    expect(err).not.toContain('bad-settings');
  });
});

describe('an export for trainers', () => {
  test('of text alone says that nothing is exported, and which format holds it', async () => {
    await runOf(TEXT_MODEL, TEXT);
    const exported = (format: string) => call(out, ['export', RUN, '--out', out, '--format', format, '--to', format]);
    const { code, err } = await exported('areal');
    expect([code, existsSync(join(out, 'areal'))]).toEqual([8, false]);
    expect(err).toContain('left out: 1 not-trainable');
    expect(err).toContain(
      'everturn: Nothing is exported, and no file is written. Its model gives text without token ids',
    );
    expect(await exported('messages')).toMatchObject({ code: 0 });
  });
});

describe('the end of a run', () => {
  const ending = async (complete: number, place = runPlace(out, RUN)) => {
    const io = scriptedIo({ cwd: out });
    const outcomes = { complete, undecided: 1 - complete, failed: 0, cancelled: 0 };
    const counts = countsOf({ outcomes, reasons: complete ? {} : { 'environment-exited': 1 } });
    const result = resultOf({ total: 1, numTurns: 1, counts });
    const facts = { url: null, local: false, tookMs: null, maxFailed: 0 };
    const code = answered(io, await showEnding(io, { place, result, ...facts }, false), false);
    return { code, ...io.text };
  };

  test.each([
    ['tiny', 1, true],
    ['tiny', 0, false],
    [TEXT_MODEL, 1, false],
  ])('offers an export where there are samples for a trainer: %s, %i complete', async (model, complete, offers) => {
    await runOf(model);
    expect((await ending(complete)).out.includes('--format areal')).toBe(offers);
  });

  test('is 3, and says why, where nothing could be judged', async () => {
    await runOf('tiny');
    expect(await ending(0)).toMatchObject({ code: 3, err: 'everturn: No rollout is complete: environment-exited.\n' });
  });
});

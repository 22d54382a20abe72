// A run of a model that gives text without token ids: settings that it cannot honour are refused before the run is made,
// an export for trainers says that it is empty, and no next step offers it.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { placeOf } from '../../cli/find/place.ts';
import { main } from '../../cli/main.ts';
import { answered } from '../../cli/command.ts';
import { showEnding } from '../../cli/play/ending.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { countsOf, resultOf, scriptedIo } from './scripted-io.ts';

const TEXT_MODEL = 'openai:http://127.0.0.1:1/v1#m';
const TEXT = { contextIds: [], outputIds: [], logprobs: [], versions: [], trainable: false };

let out: string;
beforeEach(() => (out = mkdtempSync(join(tmpdir(), 'everturn-'))));
afterEach(() => rmSync(out, { recursive: true, force: true }));

const ioOf = () => scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(out, '.home') } });

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
    writeFileSync(join(out, 'rows.jsonl'), '{"id":"a","question":"1 + 1?","answer":"2"}\n');
    const io = ioOf();
    const code = await main(io, ['run', 'rows.jsonl', '--name', 'x', '--out', 'runs', '--model', model, ...flags]);
    expect([code, io.text.err]).toEqual([2, expect.stringContaining(`cannot honour ${named}`)]);
    expect(io.text.err).toContain(`Leave ${named} out.`);
    expect(existsSync(join(out, 'runs', 'x'))).toBe(false);
  });
});

describe('a setting that changes nothing', () => {
  test.each([
    [TEXT_MODEL, ['--new-tokens-per-chunk', '8'], '--new-tokens-per-chunk'],
    [TEXT_MODEL, ['--deterministic'], '--deterministic'],
    ['sglang:http://127.0.0.1:1', ['--deterministic'], '--deterministic'],
    ['vllm:http://127.0.0.1:1', ['--set', 'deterministic=true'], '--deterministic'],
  ])('is said: %s %j', async (model, flags, named) => {
    writeFileSync(join(out, 'rows.jsonl'), '{"id":"a","question":"1 + 1?","answer":"2"}\n');
    const io = ioOf();
    await main(io, ['run', 'rows.jsonl', '--dry-run', '--name', 'x', '--out', 'runs', '--model', model, ...flags]);
    expect(io.text.err).toContain(`does not honour ${named}`);
    expect(io.text.err).not.toContain('bad-settings');
  });
});

describe('an export for trainers', () => {
  test('of text alone says that nothing is exported, and which format holds it', async () => {
    await runOf(TEXT_MODEL, TEXT);
    const io = ioOf();
    expect(await main(io, ['export', RUN, '--out', out, '--format', 'areal', '--to', 'x.jsonl'])).toBe(8);
    expect(existsSync(join(out, 'x.jsonl'))).toBe(false);
    expect(io.text.err).toContain('left out: 1 not-trainable');
    expect(io.text.err).toContain(
      'everturn: Nothing is exported, and no file is written. Its model gives text without token ids',
    );
    const texts = ioOf();
    await main(texts, ['export', RUN, '--out', out, '--format', 'messages', '--to', 'm.jsonl']);
    expect(texts.text.err).not.toContain('Nothing is exported');
  });
});

describe('the end of a run', () => {
  const ending = async (complete: number, place = placeOf(out, RUN)) => {
    const io = ioOf();
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

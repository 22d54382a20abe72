// New weights for the embedded model under a run: each token says which weights made it, answers in flight keep theirs, and
// whatever is started anew, model process or worker, has the weights in force.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type { TokenBackend, GenerateRequest } from '../../inference/backend.ts';
import { tinyIdentity } from '../../inference/index.ts';
import { type Backends, openBackends } from '../../run/backends/backends.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { WeightsLedger } from '../../domain/weights/weights.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { undisturbed } from '../contract/backend.ts';
import { aRunRecord } from '../records/play.ts';
import { openScorer, otherWeights, type Scorer, worstError } from '../real/servers/other-weights.ts';
import { childrenOf, commandOf } from '../support/processes.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const home = mkdtempSync(join(tmpdir(), 'everturn-embedded-'));
const settings = completeSettings('run', { model: 'tiny' });
let first: Scorer;
let other: Scorer;
beforeAll(async () => {
  [first, other] = [await openScorer(TINY_FOLDER), await openScorer(otherWeights())];
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const opened: Backends[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((backends) => backends.close()));
});
function worker(): Backends {
  const backends = openBackends(() => undefined);
  opened.push(backends);
  return backends;
}

let runs = 0;
async function aRun(
  run = `run-${++runs}`,
  out = home,
  part: Partial<RunRecord> = {},
): Promise<{ folder: string; ledger: WeightsLedger }> {
  const store = openFileStore(out, run);
  await store.put('run', null, aRunRecord(run, settings, { ...part, model: await tinyIdentity() }));
  return { folder: store.folder, ledger: openWeightsLedger(store.folder) };
}

/** As the workflow does. */
async function declare(
  backends: Backends,
  at: { folder: string; ledger: WeightsLedger },
  version: number,
  from: string,
) {
  const weights = { version, label: String(version), folder: from };
  const contentHash = await backends.prove(settings, at.folder, weights);
  const number = (await at.ledger.read()).entries.length + 1;
  const entry = { ...weights, number, contentHash, rewind: false, line: 0, workflowId: 'w', declaredAt: 0 };
  await at.ledger.declare(entry);
  await at.ledger.markLoaded(number);
}

const PROMPT = [1, 5, 6, 7];
const request = (more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  requestId: 'run/q/0/1',
  contextIds: PROMPT,
  maxNewTokens: 12,
  sampling: DEFAULT_SAMPLING,
  seed: 1,
  deterministic: false,
  stopTokenIds: [],
  ...more,
});
async function tokensOf(backends: Backends, folder: string): Promise<TokenBackend> {
  return (await backends.get(settings, folder)) as TokenBackend;
}
async function madeBy(backend: TokenBackend, weights: Scorer): Promise<number> {
  const { outputIds, logprobs } = await backend.generate(request(), undisturbed());
  return worstError(await weights(PROMPT, outputIds, 1), logprobs);
}

describe('new weights of the embedded model', () => {
  test('are those of the next answer, by label and by logprobs; those of before end under the old ones', async () => {
    const [backends, run] = [worker(), await aRun()];
    const before = await tokensOf(backends, run.folder);
    const inFlight = before.generate(request({ maxNewTokens: 200 }), undisturbed());
    await declare(backends, run, 7, otherWeights());
    const now = await tokensOf(backends, run.folder);
    const answer = await now.generate(request(), undisturbed());
    expect(answer.versions).toEqual([{ version: 7, versionLabel: '7', start: 0, end: 12 }]);
    expect(now.facts.name).toBe(before.facts.name);
    expect(await madeBy(now, other)).toBeLessThan(1e-4);
    expect(await madeBy(now, first)).toBeGreaterThan(0.1);
    const old = await inFlight;
    expect(old.versions).toEqual([{ version: 0, start: 0, end: 200 }]);
    expect(worstError(await first(PROMPT, old.outputIds, 1), old.logprobs)).toBeLessThan(1e-3);
  });

  test('an evaluation is answered by those of its version, and by the newest once those are removed', async () => {
    const [backends, run] = [worker(), await aRun()];
    const own = join(home, 'step-1');
    cpSync(otherWeights(), own, { recursive: true });
    await declare(backends, run, 1, own);
    await declare(backends, run, 2, TINY_FOLDER);
    const evaluation = (version: number, label: string | null) => {
      const evaluates = { run: `run-${runs}`, version, line: 0, label };
      return aRun(`run-${runs}-eval-v${version}`, `${run.folder}-eval`, { evaluates });
    };
    const [start, middle] = [await evaluation(0, null), await evaluation(1, '1')];
    const versionOf = async (by: Backends, { folder }: { folder: string }) =>
      (await (await tokensOf(by, folder)).generate(request(), undisturbed())).versions[0]!.version;
    expect([await versionOf(backends, start), await versionOf(backends, middle)]).toEqual([0, 1]);
    expect(await madeBy(await tokensOf(backends, middle.folder), other)).toBeLessThan(1e-4);
    rmSync(own, { recursive: true });
    // Loaded, they need their folder no more.
    expect([await versionOf(backends, middle), await versionOf(worker(), middle)]).toEqual([1, 2]);
  });

  test('follow one another in one process, and another run keeps its own', async () => {
    const [backends, run, calm] = [worker(), await aRun(), await aRun()];
    for (let version = 1; version <= 3; version++) {
      await declare(backends, run, version, version % 2 === 1 ? otherWeights() : TINY_FOLDER);
      const backend = await tokensOf(backends, run.folder);
      const { versions } = await backend.generate(request(), undisturbed());
      expect(versions).toMatchObject([{ version, versionLabel: String(version) }]);
      expect(await madeBy(backend, version % 2 === 1 ? other : first)).toBeLessThan(1e-4);
    }
    const untouched = await tokensOf(backends, calm.folder);
    expect((await untouched.generate(request(), undisturbed())).versions).toEqual([{ version: 0, start: 0, end: 12 }]);
    expect(await madeBy(untouched, first)).toBeLessThan(1e-4);
  });

  test('are those that a new worker opens, and a model process that died', async () => {
    const [backends, run] = [worker(), await aRun()];
    await declare(backends, run, 7, otherWeights());
    expect(await madeBy(await tokensOf(worker(), run.folder), other)).toBeLessThan(1e-4);
    const backend = await tokensOf(backends, run.folder);
    const dies = backend.generate(request({ maxNewTokens: 1500 }), undisturbed());
    dies.catch(() => undefined);
    killModels();
    await expect(dies).rejects.toMatchObject({ reason: 'model-process-died', retryable: true });
    const again = await tokensOf(backends, run.folder);
    expect((await again.generate(request(), undisturbed())).versions).toMatchObject([{ version: 7 }]);
    expect(await madeBy(again, other)).toBeLessThan(1e-4);
  });

  test('are refused by name where they are not of this model, and nothing changes', async () => {
    const [backends, run] = [worker(), await aRun()];
    const folder = (name: string, change: (path: string) => void) => {
      const path = join(home, name);
      cpSync(TINY_FOLDER, path, { recursive: true });
      change(path);
      return path;
    };
    const edit = (file: string, edited: (text: string) => string) => (path: string) =>
      writeFileSync(join(path, file), edited(readFileSync(join(path, file), 'utf8')));
    const larger = folder(
      'larger',
      edit('config.json', (text) => text.replace(/"num_hidden_layers": \d+/, '"num_hidden_layers": 99')),
    );
    const others = folder(
      'others',
      edit('tokenizer.json', (text) => text.replace('"model": {', '"model": {"other": 1,')),
    );
    const broken = folder('broken', (path) => writeFileSync(join(path, 'onnx/model.onnx'), 'none'));
    const lacking = folder('lacking', (path) => rmSync(join(path, 'onnx'), { recursive: true }));
    await expect(declare(backends, run, 7, larger)).rejects.toMatchObject({
      reason: 'other-architecture',
      message: expect.stringContaining('num_hidden_layers'),
    });
    await expect(declare(backends, run, 7, others)).rejects.toMatchObject({ reason: 'other-tokenizer' });
    await expect(declare(backends, run, 7, broken)).rejects.toMatchObject({ reason: 'model-unloadable' });
    await expect(declare(backends, run, 7, lacking)).rejects.toMatchObject({ reason: 'model-incomplete' });
    expect(await madeBy(await tokensOf(backends, run.folder), first)).toBeLessThan(1e-4);
    expect(await run.ledger.current()).toBeNull();
  });

  test('that were changed after they were declared are not used, and the turn is tried again', async () => {
    const [backends, run] = [worker(), await aRun()];
    const folder = join(home, 'changing');
    cpSync(otherWeights(), folder, { recursive: true });
    await declare(backends, run, 7, folder);
    cpSync(join(TINY_FOLDER, 'onnx'), join(folder, 'onnx'), { recursive: true });
    await expect(worker().get(settings, run.folder)).rejects.toMatchObject({
      reason: 'model-changed',
      retryable: true,
    });
  });
});

/** Of this process. */
function killModels(): void {
  const models = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('everturn-model'));
  for (const pid of models) process.kill(pid, 'SIGKILL');
}

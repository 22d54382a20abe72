// Forgeries of run.json and of the fields of every record, made by generators: each field that Everturn does not write,
// each setting changed everywhere, each part of the model's identity. And what a folder alone cannot tell.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FoundTokenizer, tokenizerOf } from '../../../cli/find/tokenizer.ts';
import { DEFAULT_SETTINGS } from '../../../domain/run/settings.ts';
import type { ModelIdentity } from '../../../domain/weights/model-identity.ts';
import { derivedRunName } from '../../../domain/run/run-name.ts';
import type { RolloutSettings } from '../../../domain/run/settings.ts';
import { canaryIds, probeHash } from '../../../inference/fleet/identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import { loadTokenizer } from '../../../inference/tokenizer/tokenizer.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun } from '../../../records/check/check.ts';
import { modelProblems } from '../../../records/check/model.ts';
import { runRecordProblems } from '../../../records/check/run-record.ts';
import { shapeProblem } from '../../../records/check/shape.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { FIELDS } from '../../../run/options.ts';
import type { RunRecord } from '../../../records/format/run-record.ts';
import type { RecordKind } from '../../../records/format/kinds.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { forgeRun, type LooseRun, unpack } from './forger.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-forged-records-'));
const played = join(root, 'played');
let run: RunRecord;
let found: FoundTokenizer;
let identity: ModelIdentity;
let whole: LooseRun;
beforeAll(async () => {
  unpack('run-always.json', join(played, 'always'));
  const store = openFileStore(played, 'always');
  run = (await store.getRun())!.record;
  found = await tokenizerOf(store, root);
  identity = await tinyIdentity();
  await forgeRun(played, 'always', (read) => void (whole = structuredClone(read)), false);
});
afterAll(() => rmSync(root, { recursive: true }));

async function problemsAfter(change: (whole: LooseRun) => void): Promise<string[]> {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(played, 'always'), join(out, 'always'), { recursive: true });
  await forgeRun(out, 'always', change);
  const problems: string[] = [];
  const facts = { model: found.model, everturn: everturnVersion() };
  await checkRun(openFileStore(out, 'always'), ({ path, problem }) => problems.push(`${path}: ${problem}`), facts);
  rmSync(out, { recursive: true });
  return problems;
}

/** Every object within a value, by its path. */
function* objectsIn(value: unknown, path: string): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}.${key}`);
}

/** Of each kind of record, one of the run. */
const records = (): [RecordKind, object][] => {
  const [one] = whole.rollouts;
  const { turn, finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt } = one!.turns[1]!;
  const chunk = { turn, chunk: 1, finish, outputIds, logprobs, versions, server, attempt, startedAt, finishedAt };
  return [
    ['run', { ...whole.run, model: { ...identity, canary: { version: null, values: { '1:2': -1 } } } }],
    ['rollout', one!.rollout],
    ['turn', { ...one!.turns[1]!, textLogprobs: [{ token: 'a', logprob: -1 }] }],
    ['chunk', chunk],
    ['verdict', one!.verdicts[1]!],
    ['end', { ...one!.end, failure: { boundary: 'model', reason: 'x', message: 'x', turn: 1 } }],
    ['result', whole.result!],
  ];
};
/** Maps whose keys are names of servers, reasons, tests. */
const OPEN = /serverLimits$|serverWeights$|reasons$|verdicts|boundaries$|origins$|values$|servers$|failures/;

/** Another legal value of each setting. */
const OTHERS: { readonly [K in keyof RolloutSettings]: RolloutSettings[K] } = {
  model: 'transformers:/models/other',
  tokenizer: '/models/other',
  numTurns: 4,
  stop: 'success',
  feedback: 'delta',
  rewardScaling: 10,
  rewardBias: 1,
  turnDiscount: 0.5,
  maxNewTokens: 20_000,
  newTokensPerChunk: 7,
  temperature: 0.5,
  topP: 0.9,
  topK: 50,
  deterministic: true,
  logprobs: 'raw',
  apiKeyEnv: 'MY_API_KEY',
  fleetPolicy: 'round_robin',
  maxInFlightPerServer: 8,
  requestTimeoutSeconds: 60,
  recheckEvery: 7,
  serverLimits: { 'http://a': 1 },
  serverWeights: { 'http://a': 2 },
  seed: 12,
};
const everywhere = (read: LooseRun, changes: object) => {
  read.run.settings = { ...read.run.settings, ...changes };
  for (const { rollout } of read.rollouts) rollout.settings = { ...rollout.settings, ...changes };
};

describe('a check of records', () => {
  test('knows every option of a run, and min-p only where it was given', () => {
    const origins = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, 'default'] as const));
    const known = {
      ...run,
      origins: { ...run.origins, ...origins, numTurns: 'flag', turnDiscount: 'flag' },
    } as RunRecord;
    const problems = (record: RunRecord) =>
      runRecordProblems(record, undefined).filter((problem) => /option|is the default/.test(problem));
    expect(problems(known)).toEqual([]);
    const drawn = { ...known, settings: { ...known.settings, minP: 0.1 } };
    expect(problems(drawn)).toEqual(['says that minP 0.1 is the default, which is 0']);
    expect(shapeProblem('run', drawn)).toBeUndefined();
    expect(shapeProblem('run', { ...drawn, settings: { ...drawn.settings, minP: 2 } })).toContain('minP');
  });

  test('finds a field that Everturn does not write, in every object of every kind of record', () => {
    let places = 0;
    for (const [kind, part] of records()) {
      expect(shapeProblem(kind, part), kind).toBeUndefined();
      for (const [path] of objectsIn(part, kind)) {
        if (OPEN.test(path)) continue;
        places++;
        const copy = structuredClone(part);
        for (const [at, object] of objectsIn(copy, kind)) if (at === path) object['note'] = 1;
        expect(shapeProblem(kind, copy), path).toMatch(/has no right|has the field "note"/);
      }
    }
    expect(places).toBeGreaterThan(20);
  });

  test('finds each setting that is changed everywhere, where run.json says that it is the default', async () => {
    for (const key of Object.keys(OTHERS) as (keyof RolloutSettings)[]) {
      if (run.origins[key] !== 'default') continue;
      const forged = { ...run, settings: { ...run.settings, [key]: OTHERS[key] } };
      expect(runRecordProblems(forged, everturnVersion()).join('\n'), key).toMatch(
        /says (?:that \w+ .* is the default|the seed 12 was left out)/,
      );
    }
    const whole = await problemsAfter((read) => everywhere(read, { temperature: 0.5 }));
    expect(whole).toEqual(['run.json: says that temperature 0.5 is the default, which is 1']);
  });

  test('finds settings that no rollout can have', () => {
    const impossible: object[] = [
      { temperature: -1 },
      { topP: 0 },
      { topP: 2 },
      { topK: 0 },
      { numTurns: 0 },
      { numTurns: 1.5 },
      { maxNewTokens: 0 },
      { stop: 'never' },
      { logprobs: 'all' },
      { rewardScaling: '1' },
      { seed: -1 },
    ];
    for (const changes of impossible)
      expect(shapeProblem('run', { ...run, settings: { ...run.settings, ...changes } })).toMatch(
        /has no right \w+.*in settings/,
      );
  });

  test('finds a setting that was said to be given where the run’s name follows from its settings', () => {
    const { dataset, settings, samples } = run;
    const { seed: _, ...given } = settings;
    const name = derivedRunName(dataset!.path, dataset!.sha256, given, samples);
    const honest = { ...run, run: name, origins: { ...run.origins, seed: 'flag' as const } };
    const seeded = derivedRunName(dataset!.path, dataset!.sha256, settings, samples);
    expect(runRecordProblems({ ...honest, run: seeded }, everturnVersion())).toEqual([]);
    for (const key of Object.keys(OTHERS) as (keyof RolloutSettings)[]) {
      const forged = { ...settings, [key]: OTHERS[key] };
      const origins = { ...honest.origins, [key]: 'flag' as const };
      const problems = runRecordProblems({ ...honest, run: seeded, settings: forged, origins }, everturnVersion());
      expect(problems, key).toContainEqual(expect.stringContaining('has a name that other data or settings give'));
    }
    const more = runRecordProblems({ ...honest, run: seeded, samples: 3 }, everturnVersion());
    expect(more).toContainEqual(expect.stringContaining('has a name that other'));
  });

  test('finds a setting that is not what the run’s agent presets', () => {
    const agent = { name: 'math-single-step', sampleOf: 'query' } as const;
    const origins = { ...run.origins, agent: 'flag', numTurns: 'agent' } as const;
    const of = (numTurns: number, changes: object = { agent }) =>
      runRecordProblems(
        { ...run, ...changes, origins, settings: { ...run.settings, numTurns } },
        everturnVersion(),
      ).filter((problem) => problem.includes('agent'));
    expect(of(1)).toEqual([]);
    expect(of(3)).toEqual(['says that numTurns 3 is of the agent math-single-step, which gives 1 to numTurns']);
    expect(of(3, {})).toEqual(['says that an agent preset numTurns, and names none']);
    expect(of(3, { agent: { name: 'of-a-module', sampleOf: 'rollout' } })).toEqual([]);
    const filter = { minMembers: null, successRate: [0.1, 0.9], dropZeroVariance: false };
    expect(shapeProblem('run', { ...run, agent, keep: filter })).toBeUndefined();
    expect(shapeProblem('run', { ...run, keep: { ...filter, successRate: [0.9, 0.1] } })).toContain('keep');
    expect(shapeProblem('run', { ...run, agent: { ...agent, sampleOf: 'turn' } })).toContain('agent');
  });

  test('finds origins, versions and times that cannot be', () => {
    const cases: [Partial<RunRecord>, RegExp][] = [
      [{ origins: {} }, /says that \w+ .* is the default/],
      [{ origins: { ...run.origins, model: 'input' } }, /from a command and from a workflow/],
      [{ origins: { ...run.origins, budget: 'flag' } as never }, /origin of "budget"/],
      [{ origins: { ...run.origins, samples: 'default' } }, /2 samples are the default/],
      [{ versions: { ...run.versions, everturn: '99.0.0' } }, /knows no later records/],
      [{ versions: { ...run.versions, everturn: 'mine' } }, /which there is not/],
      [{ versions: { ...run.versions, node: 'v8.0.0' } }, /does not run/],
      [{ versions: { ...run.versions, node: '20.20.0' } }, /does not run/],
      [{ createdAt: Date.now() + 1e10 }, /still to come/],
      [{ dataset: { ...run.dataset!, offered: run.dataset!.sha256 } }, /none was refused/],
      [{ logprobs: { meaning: 'raw' } }, /raw logprobs of a model that runs here/],
    ];
    for (const [changes, problem] of cases)
      expect(runRecordProblems({ ...run, ...changes }, everturnVersion()).join('\n')).toMatch(problem);
    expect(runRecordProblems(run, everturnVersion())).toEqual([]);
  });

  test('finds logprobs of servers that the settings do not name or cannot use', () => {
    const model = 'sglang:http://a:1,http://b:2';
    const given = { ...run, settings: { ...run.settings, model }, origins: { ...run.origins, model: 'flag' as const } };
    const problems = (logprobs: RunRecord['logprobs'], settings: Partial<RolloutSettings> = {}) =>
      runRecordProblems(
        {
          ...given,
          logprobs: logprobs!,
          settings: { ...given.settings, ...settings },
          origins: { ...given.origins, temperature: 'flag' },
        },
        everturnVersion(),
      );
    expect(problems({ meaning: 'mixed', servers: { 'http://a:1': 'raw', 'http://b:2': 'policy' } })).toEqual([]);
    expect(problems({ meaning: 'raw', servers: { 'http://c:1': 'raw' } }).join()).toMatch(/none of sglang/);
    expect(problems({ meaning: 'raw' }, { temperature: 0.7 }).join()).toMatch(/cannot serve its settings/);
  });
});

describe('a check of the model’s identity', () => {
  test('passes the one that ships, and finds each part of it changed, zeroed or left out', async () => {
    expect((await problemsAfter((read) => (read.run.model = identity))).join('\n')).toBe('');
    const zeroed = { ...identity, weights: '0'.repeat(64) };
    expect((await problemsAfter((read) => (read.run.model = zeroed))).join('\n')).toMatch(
      /run\.json: has the hash 0{12}/,
    );
    const of = (changes: Partial<ModelIdentity>) =>
      modelProblems({ ...run, model: { ...identity, ...changes } }, found.model);
    for (const trait of ['tokenizer', 'template', 'weights', 'name'] as const) {
      for (const value of [null, '0'.repeat(64), 'f'.repeat(64)])
        expect((await of({ [trait]: value })).join('\n'), `${trait} ${value}`).toMatch(/^(?:has|lacks) the/);
    }
    for (const more of [{ probe: 'a'.repeat(64) }, { canary: { version: null, values: { '1:5': -1 } } }])
      expect((await of(more)).join('\n')).toMatch(/has the probe or the canary of a server/);
  });

  test('finds a server’s probe and canary that are of other ids than its tokenizer’s', async () => {
    const tokenizer = await loadTokenizer(TINY_FOLDER);
    const ids = await canaryIds(tokenizer);
    const values = Object.fromEntries(ids.slice(1).map((id, i) => [`${i + 1}:${id}`, -1.5]));
    const of = (more: Partial<ModelIdentity>) =>
      modelProblems(
        {
          ...run,
          settings: { ...DEFAULT_SETTINGS, seed: 1, model: 'sglang:http://a' },
          model: { ...identity, weights: null, canary: { version: '1', values }, ...more },
        },
        found.model && { ...found.model, identity: { ...found.model.identity, weights: null } },
      );
    expect(await of({ probe: await probeHash(tokenizer) })).toEqual([]);
    expect((await of({ probe: '0'.repeat(64) })).join()).toMatch(/gives others/);
    expect((await of({ weights: '0'.repeat(64) })).join()).toMatch(/weights of a server/);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 200 }), fc.nat(700), async (place, id) => {
        fc.pre(ids[place] !== id);
        expect((await of({ canary: { version: '1', values: { ...values, [`${place}:${id}`]: -1 } } })).join()).toMatch(
          /no token of the canary/,
        );
      }),
      { numRuns: 50 },
    );
  });

  test('a folder alone does not tell a reward setting that was said to be given', async () => {
    // docs/check.md says so: with Temporal's histories, or a name that follows from the settings, it is found.
    expect(await problemsAfter((read) => everywhere(read, { turnDiscount: 0.5 }))).toEqual([]);
  });
});

// What a worker lets a workflow name: the operator's lists, and the runs of the user's own commands in EVERTURN_HOME.

import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS, type RolloutSettings } from '../../../domain/rollout/settings.ts';
import { UsageError } from '../../../domain/errors/errors.ts';
import { tokenizerLoader } from '../../../inference/tokenizer/server-tokenizer.ts';
import { operatorOf, type OperatorWords } from '../../../local/permissions/operator.ts';
import { openPermissions } from '../../../local/permissions/permissions.ts';
import { registerRun, registeredRun, registerUpdate } from '../../../local/permissions/registered.ts';
import { homeAt } from '../../../local/service/home.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
const home = homeAt(join(root, 'home'));
const folder = join(root, 'runs', 'own');
mkdirSync(folder, { recursive: true });
mkdirSync(join(root, 'elsewhere'));

const settings = (given: Partial<RolloutSettings>): RolloutSettings => ({ ...DEFAULT_SETTINGS, seed: 1, ...given });
const OWN = { model: 'openai:https://api.own.example/v1#m', tokenizer: null, apiKeyEnv: 'OWN_API_KEY' };
registerRun(home, { folder, ...OWN });

const opened = (flags: OperatorWords = {}, local = false) =>
  openPermissions(operatorOf({}, flags, local ? { local } : { cwd: join(root, 'work') }), home);

function reasonOf(use: () => void): string {
  try {
    use();
    return 'allowed';
  } catch (error) {
    if (error instanceof UsageError) return error.reason;
    throw error;
  }
}

describe('a folder', () => {
  test('is allowed below ./runs where nothing is said, below what is said, and where an own command made a run', () => {
    const use = (out: string, run: string, flags: OperatorWords = {}) =>
      reasonOf(() => opened(flags).mayUseRun(out, run));
    expect(use(join(root, 'work', 'runs'), 'new')).toBe('allowed');
    expect(use(join(root, 'runs'), 'own')).toBe('allowed');
    expect(use(join(root, 'runs'), 'other')).toBe('not-allowed');
    expect(use(join(root, 'runs'), 'own.more')).toBe('not-allowed');
    expect(use(join(root, 'elsewhere'), 'x')).toBe('not-allowed');
    const said = { runsUnder: `${join(root, 'elsewhere')}, ${join(root, 'third')}` };
    expect(use(join(root, 'elsewhere'), 'x', said)).toBe('allowed');
    expect(use(join(root, 'third', 'deeper'), 'x', said)).toBe('allowed');
    expect(use(join(root, 'elsewhere-too'), 'x', said)).toBe('not-allowed');
    expect(use(join(root, 'work', 'runs'), 'new', said)).toBe('not-allowed');
  });

  test('in a bucket is allowed below a place that is said, by whole names, and not by default', () => {
    const use = (out: string, flags: OperatorWords = {}) => reasonOf(() => opened(flags).mayUseRun(out, 'x'));
    const said = { runsUnder: 's3://bucket/runs/, s3://other' };
    expect(use('s3://bucket/runs')).toBe('not-allowed');
    for (const out of ['s3://bucket/runs', 's3://bucket/runs/deeper', 's3://other', 's3://other/a'])
      expect(use(out, said), out).toBe('allowed');
    for (const more of ['', '/runs-too', '/runs/../secret', '/runs//x'])
      expect(use(`s3://bucket${more}`, said), more).toBe('not-allowed');
    for (const out of ['s3://others', 's3:/bucket/runs', '/bucket/runs'])
      expect(use(out, said), out).toBe('not-allowed');
    expect(() => opened({ runsUnder: 's3://bucket/../x' })).toThrow('no place in a bucket');
    expect(reasonOf(() => opened({ runsUnder: 's3://bucket' }, true).mayUseRun('s3://bucket', 'x'))).toBe('allowed');
  });

  test('is none of the local service where nothing is said', () => {
    expect(reasonOf(() => opened({}, true).mayUseRun(process.cwd(), 'x'))).toBe('not-allowed');
    expect(reasonOf(() => opened({}, true).mayUseRun(join(root, 'runs'), 'own'))).toBe('allowed');
    expect(() => opened({ runsUnder: 'runs' }, true)).toThrow('cannot be a permitted folder');
  });

  test('is what its links lead to, also where they are made after it was allowed', () => {
    const flags = { runsUnder: join(root, 'linked') };
    mkdirSync(join(root, 'linked'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'linked', 'out'));
    symlinkSync(join(root, 'linked'), join(root, 'way-in'));
    const use = (out: string, run: string) => reasonOf(() => opened(flags).mayUseRun(out, run));
    expect(use(join(root, 'linked', 'out'), 'x')).toBe('not-allowed');
    expect(use(join(root, 'way-in'), 'x')).toBe('allowed');
    expect(use(join(root, 'linked'), 'later')).toBe('allowed');
    symlinkSync(join(root, 'elsewhere'), join(root, 'linked', 'later'));
    expect(use(join(root, 'linked'), 'later')).toBe('not-allowed');
  });

  test('is believed of a home that this user alone can write in', () => {
    expect(registeredRun(home, folder)).toMatchObject(OWN);
    const files = join(home.folder, 'own-runs');
    for (const path of [home.folder, files, join(files, readdirSync(files)[0]!)]) {
      chmodSync(path, 0o777);
      expect(registeredRun(home, folder), path).toBeUndefined();
      chmodSync(path, path === files || path === home.folder ? 0o700 : 0o600);
    }
    expect(registeredRun(home, folder)).toMatchObject(OWN);
  });
});

describe('a key', () => {
  const use = (given: Partial<RolloutSettings>, at = folder, flags: OperatorWords = {}, local = false) =>
    reasonOf(() => opened(flags, local).mayUseModel(settings(given), at));

  test('goes where the own command of that run sends it, and nowhere else', () => {
    expect(use(OWN)).toBe('allowed');
    expect(use({ ...OWN, model: 'openai:https://evil.example/v1#m' })).toBe('not-allowed');
    expect(use({ ...OWN, model: 'openai:https://api.own.example:444/v1#m' })).toBe('not-allowed');
    expect(use({ ...OWN, model: 'openai:http://api.own.example/v1#m' })).toBe('not-allowed');
    expect(use({ ...OWN, apiKeyEnv: 'OTHER_API_KEY' })).toBe('not-allowed');
    expect(use(OWN, join(root, 'runs', 'other'))).toBe('not-allowed');
    expect(use({ model: OWN.model })).toBe('allowed');
  });

  test('is one by its name, or by the operator’s list; the local service takes what its user’s commands name', () => {
    const odd = { ...OWN, apiKeyEnv: 'HOME_TOKEN' };
    const place = join(root, 'runs', 'odd');
    mkdirSync(place);
    registerRun(home, { folder: place, ...odd });
    expect(use(odd, place)).toBe('not-allowed');
    expect(use(odd, place, { apiKeyEnv: 'HOME_TOKEN' })).toBe('allowed');
    expect(use(odd, place, {}, true)).toBe('allowed');
    // A list is the whole list.
    expect(use(OWN, folder, { apiKeyEnv: 'HOME_TOKEN' })).toBe('not-allowed');
    expect(use(OWN, folder, { apiKeyEnv: 'HOME_TOKEN' }, true)).toBe('not-allowed');
  });

  test('goes to the servers that the operator names for it, all of them or none', () => {
    const flags = { apiKeyEnv: 'A=https://a.example, A=http://b.example:8000,B=https://b.example' };
    const at = join(root, 'nobody-made-this');
    const all = (model: string, apiKeyEnv: string) => use({ model, apiKeyEnv }, at, flags);
    expect(all('openai:https://a.example/v1#m', 'A')).toBe('allowed');
    expect(all('sglang:https://a.example,http://b.example:8000', 'A')).toBe('allowed');
    expect(all('sglang:https://a.example,https://evil.example', 'A')).toBe('not-allowed');
    expect(all('openai:https://a.example.evil.example#m', 'A')).toBe('not-allowed');
    expect(all('openai:https://a.example/v1#m', 'B')).toBe('not-allowed');
    expect(all('openai:http://a.example/v1#m', 'A')).toBe('not-allowed');
    expect(all('tiny', 'A')).toBe('not-allowed');
  });

  test('is not said again where a list is wrong', () => {
    for (const wrong of ['sk-live-1234567890', 'A=sk-live-1234567890', 'A=ftp://x', '=https://x', 'A=https://x=y'])
      expect(() => operatorOf({}, { apiKeyEnv: wrong }), wrong).toThrow(/^(?!.*sk-live).*neither NAME nor NAME=/);
  });
});

describe('a model or tokenizer', () => {
  test('is loaded from what the operator lists, or what the run’s own command names', () => {
    const models = join(root, 'models');
    mkdirSync(join(models, 'm'), { recursive: true });
    symlinkSync('/etc', join(models, 'etc'));
    const flags = { models: `${models}, org/model` };
    const at = join(root, 'nobody-made-this');
    const use = (given: Partial<RolloutSettings>) => reasonOf(() => opened(flags).mayUseModel(settings(given), at));
    expect(use({ model: 'tiny' })).toBe('allowed');
    expect(use({ model: `transformers:${models}/m` })).toBe('allowed');
    expect(use({ model: 'transformers:org/model', tokenizer: `${models}/m` })).toBe('allowed');
    for (const name of [
      '/etc',
      `${models}/etc`,
      `${models}/../x`,
      'org/other',
      'models/m',
      './models/m',
      '~/m',
      'org/model/../../x',
    ])
      for (const given of [
        { model: `transformers:${name}` },
        { tokenizer: name },
        { model: 'sglang:http://a', tokenizer: name },
      ])
        expect(use(given), JSON.stringify(given)).toBe('not-allowed');
  });

  test('is not loaded because a server names it', async () => {
    const at = join(root, 'nobody-made-this');
    const served = settings({ model: 'sglang:http://a.example' });
    const loader = tokenizerLoader(null, opened().mayLoad(served, at));
    for (const named of ['/etc', join(import.meta.dirname, '../../../models/tiny'), 'org/model'])
      await expect(loader.load(named, 'http://a.example')).rejects.toMatchObject({ reason: 'not-allowed' });
    const own = join(root, 'runs', 'served');
    mkdirSync(own);
    registerRun(home, { folder: own, model: served.model, tokenizer: null, apiKeyEnv: null });
    const ours = tokenizerLoader(null, opened().mayLoad(served, own));
    const { tokenizer } = await ours.load(join(import.meta.dirname, '../../../models/tiny'), 'http://a.example');
    expect(tokenizer.size).toBeGreaterThan(0);
  });
});

describe('a data set', () => {
  test('is read below the folders of runs', () => {
    writeFileSync(join(root, 'elsewhere', 'rows.jsonl'), '');
    const read = (path: string) => reasonOf(() => opened({ runsUnder: join(root, 'elsewhere') }).mayReadDataset(path));
    expect(read(join(root, 'elsewhere', 'rows.jsonl'))).toBe('allowed');
    for (const path of ['/etc/passwd', 'rows.jsonl', `${root}/elsewhere/../x.jsonl`, ''])
      expect(read(path)).toBe('not-allowed');
  });
});

describe('new weights', () => {
  const fleet = settings({ model: 'sglang:https://fleet.example' });
  const use = (
    weights: string,
    {
      flags = {},
      apiKeyEnv = null,
      at = folder,
    }: { flags?: OperatorWords; apiKeyEnv?: string | null; at?: string } = {},
  ) => reasonOf(() => opened(flags).mayUseWeights({ settings: fleet, folder: at, weights, apiKeyEnv }));
  const checkpoints = join(root, 'checkpoints');
  mkdirSync(join(checkpoints, 'step-1'), { recursive: true });

  test('are those of a folder that the operator names, also one that only servers see', () => {
    const flags = { models: `${checkpoints},/on-servers` };
    expect(use(join(checkpoints, 'step-1'))).toBe('not-allowed');
    expect(use(join(checkpoints, 'step-1'), { flags })).toBe('allowed');
    expect(use('/on-servers/step-2', { flags })).toBe('allowed');
    expect(use('/elsewhere/step-2', { flags })).toBe('not-allowed');
    symlinkSync('/etc', join(checkpoints, 'link'));
    expect(use(join(checkpoints, 'link'), { flags })).toBe('not-allowed');
    for (const odd of ['relative/step', `${checkpoints}/../x`, '', 'someone/model', '/a\0b', 7 as never, null as never])
      expect(use(odd, { flags })).toBe('not-allowed');
  });

  test('are those that a command of the user gave this run, and no other run', () => {
    const other = join(root, 'runs', 'other-run');
    mkdirSync(other);
    registerUpdate(home, { folder, model: fleet.model, apiKeyEnv: null, weights: '/given/step-3' });
    registerUpdate(home, { folder, model: fleet.model, apiKeyEnv: null, weights: '/given/step-4' });
    expect(use('/given/step-3')).toBe('allowed');
    expect(use('/given/step-4')).toBe('allowed');
    expect(use('/given/step-5')).toBe('not-allowed');
    expect(use('/given/step-3', { at: other })).toBe('not-allowed');
    expect(use('/given/step-3', { apiKeyEnv: 'OWN_API_KEY' })).toBe('not-allowed');
  });

  test('send no key that the operator did not name for the servers, or the user in the command', () => {
    const flags = { models: checkpoints };
    const weights = join(checkpoints, 'step-1');
    expect(use(weights, { flags, apiKeyEnv: 'A_API_KEY' })).toBe('not-allowed');
    const rule = { ...flags, apiKeyEnv: 'A_API_KEY=https://fleet.example' };
    expect(use(weights, { flags: rule, apiKeyEnv: 'A_API_KEY' })).toBe('allowed');
    expect(use(weights, { flags: rule, apiKeyEnv: 'PATH' })).toBe('not-allowed');
    registerUpdate(home, { folder, model: fleet.model, apiKeyEnv: 'A_API_KEY', weights });
    expect(use(weights, { apiKeyEnv: 'A_API_KEY' })).toBe('allowed');
    expect(use(weights, { flags: { apiKeyEnv: 'B_API_KEY' }, apiKeyEnv: 'A_API_KEY' })).toBe('not-allowed');
  });
});

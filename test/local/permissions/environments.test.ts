// Which environments a worker runs for a run: those of the user's own command, exactly; those that its operator serves,
// by their code; modules, if the operator allows them. Nothing else that a run's folder names.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../../domain/rollout/environment.ts';
import { operatorOf, type OperatorWords } from '../../../local/permissions/operator.ts';
import { openPermissions } from '../../../local/permissions/permissions.ts';
import { registerRun } from '../../../local/permissions/registered.ts';
import { homeAt } from '../../../local/service/home.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
const home = homeAt(join(root, 'home'));
const [own, foreign] = ['own', 'foreign'].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
}) as [string, string];

const record = (given: Partial<EnvironmentRecord> = {}): EnvironmentRecord => ({
  name: 'game',
  version: '1',
  door: 'command',
  spec: ['python3', '/opt/me/game.py'],
  fingerprint: 'a'.repeat(64),
  state: 'none',
  begins: false,
  ends: false,
  timeoutSeconds: 60,
  ...given,
});
const model = { model: 'tiny', tokenizer: null, apiKeyEnv: null };
registerRun(home, { folder: own, ...model }, { environments: [record()] });

function use(asked: EnvironmentRecord, folder: string, flags: OperatorWords = {}, served: EnvironmentRecord[] = []) {
  const permissions = openPermissions(operatorOf({}, flags, { cwd: root }), home, { environments: served });
  try {
    return permissions.mayUseEnvironment(asked, folder);
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe("a run's own environment", () => {
  test("is run for a run that the own command started, with that command's words, whatever the folder says", () => {
    expect(use(record(), own)).toEqual(['python3', '/opt/me/game.py']);
    expect(use(record({ spec: ['sh', '-c', 'id'] }), own)).toEqual(['python3', '/opt/me/game.py']);
    const changed = [{ fingerprint: 'b'.repeat(64) }, { door: 'module' as const }, { name: 'other' }];
    for (const change of changed) expect(use(record(change), own)).toBe('environment-not-served');
    expect(use(record(), foreign)).toBe('environment-not-served');
  });

  test('is not registered by a command that only reads the folder of a run, and stays registered through one', () => {
    const evil = record({ spec: ['sh', '-c', 'id'], fingerprint: 'e'.repeat(64) });
    registerRun(home, { folder: foreign, ...model, environments: [evil] } as never);
    expect(use(evil, foreign)).toBe('environment-not-served');
    registerRun(home, { folder: own, ...model, environments: [evil] } as never);
    expect(use(evil, own)).toBe('environment-not-served');
    expect(use(record(), own)).toEqual(['python3', '/opt/me/game.py']);
  });

  test("of another's run is answered by the operator's own command, if that has the same code", () => {
    const served = record({ spec: ['python3', '/srv/game.py'] });
    const asked = record({ spec: ['sh', '-c', 'id'] });
    expect(use(asked, foreign, {}, [served])).toEqual(['python3', '/srv/game.py']);
    expect(use(record({ fingerprint: 'c'.repeat(64) }), foreign, {}, [served])).toBe('environment-not-served');
    expect(use(record({ door: 'url' }), foreign, {}, [served])).toBe('environment-not-served');
  });

  test('that is a module is run where the operator allows it, and a command never is for that', () => {
    const module = record({ door: 'module', spec: ['/anywhere/game.ts'] });
    expect(use(module, foreign)).toBe('environment-not-served');
    expect(use(module, foreign, { runModules: true })).toEqual(['/anywhere/game.ts']);
    expect(use(record(), foreign, { runModules: true })).toBe('environment-not-served');
  });

  test('that is a rubric may send the key that the own command named, or one that the operator allows to its server', () => {
    const judge = (apiKeyEnv: string | null) => ({ server: 'https://judge.internal/v1', apiKeyEnv });
    const rubric = (key: string | null, at = 'd') =>
      record({ door: 'rubric', spec: ['/opt/me/rubric.json'], fingerprint: at.repeat(64), judge: judge(key) });
    registerRun(
      home,
      { folder: own, ...model },
      { environments: [record(), rubric('JUDGE_API_KEY'), rubric('AWS_SECRET', 'e')] },
    );
    expect(use(rubric('JUDGE_API_KEY'), own)).toEqual(['/opt/me/rubric.json']);
    // A name that is no API key's needs a rule of the operator.
    expect(use(rubric('AWS_SECRET', 'e'), own)).toBe('not-allowed');
    expect(use(rubric('AWS_SECRET', 'e'), own, { apiKeyEnv: 'AWS_SECRET=https://judge.internal' })).toHaveLength(1);
    expect(use(rubric('AWS_SECRET', 'e'), own, { apiKeyEnv: 'AWS_SECRET=https://other.internal' })).toBe('not-allowed');
    // The key is that of the registered rubric, whatever run.json says.
    expect(use({ ...rubric('AWS_SECRET', 'e'), judge: judge(null) }, own)).toBe('not-allowed');
    expect(use(rubric('JUDGE_API_KEY'), foreign)).toBe('environment-not-served');
    expect(use(rubric(null), foreign, { runModules: true })).toBe('environment-not-served');
    expect(use(rubric(null), foreign, {}, [rubric(null)])).toEqual(['/opt/me/rubric.json']);
  });
});

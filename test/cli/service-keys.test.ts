// A key that a command has, and the local service has not, is asked for before a rollout begins.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mustHoldKeys } from '../../run/service-keys.ts';
import { createHome, homeOf } from '../../local/service/home.ts';
import { variablesOf, writeState } from '../../local/service/state.ts';
import { serviceState } from '../local/service/support.ts';
import { testFolder } from '../support/scratch-folder.ts';

/** The service is started with `had`, and the command has `has`. */
function ask(had: Record<string, string>, has: Record<string, string>, names: (string | null)[], local = true): void {
  const env = { EVERTURN_HOME: join(testFolder(), 'home'), ...has };
  createHome(homeOf(env));
  writeState(homeOf(env), serviceState({ variables: variablesOf(had) }));
  mustHoldKeys(env, { local }, names);
}

describe('a run that needs a key', () => {
  test.each([
    ['is not begun where the service has none', {}, { K: 'a' }, 'has no key in K'],
    ['is not begun where the service has another', { K: 'b' }, { K: 'a' }, 'has another key in K'],
  ])('%s', (_, had, has, words) => {
    expect(() => ask(had, has, [null, 'K'])).toThrow(expect.objectContaining({ reason: 'no-api-key' }));
    expect(() => ask(had, has, ['K'])).toThrow(words);
  });

  test.each([
    ['the service has it', { K: 'a' }, { K: 'a' }, ['K'], true],
    ['it needs none', {}, { K: 'a' }, [null], true],
    ['the service alone has it', { K: 'a' }, {}, ['K'], true],
    ['the workers are elsewhere', {}, { K: 'a' }, ['K'], false],
  ])('is begun where %s', (_, had, has, names, local) => {
    expect(() => ask(had as never, has as never, names, local)).not.toThrow();
  });
});

// A command knows whether the local service has its key, and the service's state says nothing of the key itself.

import { describe, expect, test } from 'vitest';
import { heldAs, variablesOf } from '../../../local/service/state.ts';

describe('the variables of a service', () => {
  test('are the same, another or none, and hold no value', () => {
    const variables = variablesOf({ A_KEY: 'sk-secret-1', EMPTY: '', NONE: undefined });
    expect(heldAs(variables, 'A_KEY', 'sk-secret-1')).toBe('same');
    expect(heldAs(variables, 'A_KEY', 'sk-secret-2')).toBe('another');
    for (const name of ['EMPTY', 'NONE', 'B_KEY', 'toString']) expect(heldAs(variables, name, 'x')).toBe('none');
    expect(JSON.stringify(variables)).not.toContain('secret');
    expect(variablesOf({ A_KEY: 'sk-secret-1' }).digests).not.toEqual(variables.digests);
  });
});

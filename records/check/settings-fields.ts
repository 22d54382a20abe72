// The form of a run's settings in its records: that of their table, and the environments and tools beside them.

import { COUNT, flawIn, isObject, listOf, maybe, type Table, type Test } from '../../domain/schema/fields.ts';
import { type Setting, SETTINGS as TABLE } from '../../domain/run/settings.ts';
import { ENVIRONMENT } from './environment-fields.ts';
import { TOOLS } from './tool-fields.ts';

const named = Object.entries(TABLE as Readonly<Record<string, Setting<unknown>>>);
export const SETTINGS: Table = {
  ...Object.fromEntries(named.map(([name, { of, sparse }]) => [name, sparse ? maybe(of) : of])),
  seed: COUNT,
  environments: maybe(listOf(ENVIRONMENT)),
  tools: maybe(TOOLS),
};
export const SETTINGS_TEST: Test = [
  (value) => isObject(value) && flawIn(SETTINGS, value) === undefined,
  'an object: the settings of a rollout',
];

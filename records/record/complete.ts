// Settings of records that were written before there were all of today's: each that is missing has its default, here and
// nowhere behind the store. The text on disk stays as it is; hashes are of that text.

import { completeSettings } from '../../domain/run/defaults.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { RecordKind } from './text.ts';

/** The record itself if nothing is missing. Existing fields stay, in their order, also those that are not settings. */
export function completed<T extends object>(kind: RecordKind, run: string, record: T): T {
  if (kind !== 'run' && kind !== 'rollout') return record;
  const { settings } = record as { readonly settings?: Partial<RolloutSettings> };
  // Other values are left unchanged; `check` reports them.
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return record;
  const whole = { ...settings, ...completeSettings(run, settings) };
  return Object.keys(whole).length === Object.keys(settings).length ? record : { ...record, settings: whole };
}

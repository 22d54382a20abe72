// What `check` finds in a run, a line each; nothing in an honest one.

import { checkRun, type CheckOptions } from '../../records/check/check.ts';
import type { Store } from '../../records/store.ts';

export async function breachesOf(store: Store, options?: CheckOptions): Promise<string[]> {
  const found: string[] = [];
  await checkRun(store, ({ path, problem }) => void found.push(`${path}: ${problem}`), options);
  return found;
}

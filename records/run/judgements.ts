// Verdicts of a later judgement, stored beside the run's own and never over them: `judgements/<name>.jsonl`, one row
// per judged turn. A file appears complete, once, under an unused name.

import type { FileHandle } from 'node:fs/promises';
import { StoreError, UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/names/ids.ts';
import {
  COUNT,
  flawIn,
  HASH,
  isObject,
  maybe,
  NAME,
  NUMBER,
  type ObjectOf,
  objectOf,
  PLACE,
} from '../../domain/schema/fields.ts';
import { VERDICT_FIELDS } from '../../domain/rollout/verdict.ts';
import { join } from '../place.ts';
import { isJudgementsFile, JUDGEMENTS, judgementsFile } from '../format/layout.ts';
import type { Store } from '../store.ts';
import { linesOf, namesIn, removeOldTemporaries, writeOnce } from '../places/files.ts';

export const VERDICT_ROW = {
  query: NAME,
  /** 0-based. */
  sample: COUNT,
  /** 1-based. */
  attempt: PLACE,
  /** 1-based. */
  turn: PLACE,
  /** Hash of the turn record that was judged. */
  of: HASH,
  ...VERDICT_FIELDS,
  /** An environment's own. */
  reward: maybe(NUMBER),
  /** The run's own verdict. */
  was: objectOf({ verdict: VERDICT_FIELDS.verdict, reason: VERDICT_FIELDS.reason }),
  /** The judge's version: `everturn 0.1.0`; or an environment's name, version and fingerprint. */
  by: NAME,
};
export type VerdictRow = ObjectOf<typeof VERDICT_ROW>;

/** Throws a UsageError for a name that is taken or cannot be a file's name. */
export async function mustBeFreeName({ folder }: Store, name: string): Promise<void> {
  if (!isRunName(name)) {
    throw new UsageError(`${JSON.stringify(name)} cannot name judgements.`, {
      reason: 'judgements-name',
      fix: 'Use letters, digits, `.`, `_` and `-`, at most 100 of them.',
    });
  }
  const names = await namesIn(join(folder, JUDGEMENTS));
  // The file system may fold case.
  const same = names.find((known) => known.toLowerCase() === `${name}.jsonl`.toLowerCase());
  if (same !== undefined) throw taken(folder, name);
}

const CHUNK_CHARS = 1 << 16;

/** Returns the file's path, relative to the run's folder. */
export async function writeJudgements(
  { folder }: Store,
  name: string,
  rows: AsyncIterable<VerdictRow>,
): Promise<string> {
  const file = judgementsFile(name);
  await removeOldTemporaries(join(folder, JUDGEMENTS));
  const fill = async (handle: FileHandle) => {
    let text = '';
    for await (const row of rows) {
      text += `${JSON.stringify(row)}\n`;
      if (text.length < CHUNK_CHARS) continue;
      await handle.appendFile(text);
      text = '';
    }
    await handle.appendFile(text);
  };
  if (!(await writeOnce(join(folder, file), fill))) throw taken(folder, name);
  return file;
}

/** The rows in their order. Throws a UsageError where there is no such file, a StoreError for a damaged line. */
export async function* readJudgements(store: Store, name: string): AsyncGenerator<VerdictRow> {
  const names = (await namesIn(join(store.folder, JUDGEMENTS))).filter(isJudgementsFile);
  if (!names.includes(`${name}.jsonl`)) {
    const known = names.map((file) => file.replace(/\.jsonl$/, '')).join(', ');
    throw new UsageError(`There are no judgements ${JSON.stringify(name)} in ${store.folder}.`, {
      reason: 'judgements-name',
      fix: known === '' ? '`everturn judge --run` makes some.' : `There are: ${known}.`,
    });
  }
  const path = join(store.folder, judgementsFile(name));
  let line = 0;
  for await (const text of linesOf(path)) {
    line++;
    const row = verdictRowOf(text);
    if (!row) {
      const fix = 'Take the file from a copy of the run, or judge again under another name.';
      throw new StoreError(`${path}: line ${line} is not a judgement`, { reason: 'record-broken', fix });
    }
    yield row;
  }
}

/** Undefined for a line that is none. */
export function verdictRowOf(text: string): VerdictRow | undefined {
  try {
    const row = JSON.parse(text) as VerdictRow;
    return isObject(row) && flawIn(VERDICT_ROW, row) === undefined ? row : undefined;
  } catch {
    return undefined;
  }
}

function taken(folder: string, name: string): UsageError {
  return new UsageError(`There are judgements named "${name}" in ${folder} already.`, {
    reason: 'judgements-exist',
    fix: 'Existing judgements are never replaced: choose another --name.',
  });
}

// Proves that judgements refer to this run: each row names an existing turn record by its hash, once, and repeats the
// run's own verdict as recorded.

import { explain } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { fileError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { isJudgementsFile, JUDGEMENTS } from '../format/layout.ts';
import { ownNamesIn } from '../in-flight/listing.ts';
import { verdictRowOf } from '../run/judgements.ts';
import type { OnBreach, Store } from '../store.ts';
import { linesOf } from '../places/files.ts';

/** Returns the number of rows in all files. */
export async function checkJudgements(store: Store, run: string, onBreach: OnBreach): Promise<number> {
  let rows = 0;
  for (const name of await ownNamesIn(store.folder, JUDGEMENTS, isJudgementsFile, onBreach))
    rows += await checkFile(store, run, `${JUDGEMENTS}/${name}`, onBreach);
  return rows;
}

async function checkFile(store: Store, run: string, path: string, onBreach: OnBreach): Promise<number> {
  const seen = new Set<string>();
  let line = 0;
  try {
    for await (const text of linesOf(join(store.folder, path))) {
      line++;
      const problem = await rowProblem(store, run, text, seen);
      if (problem) onBreach({ path, problem: `line ${line} ${problem}` });
    }
  } catch (error) {
    onBreach({ path, problem: explain(fileError('read', path, error)) });
  }
  return line;
}

async function rowProblem(store: Store, run: string, text: string, seen: Set<string>): Promise<string | undefined> {
  if (!text.endsWith('\n')) return 'is torn: its end is missing';
  const row = verdictRowOf(text);
  if (!row) return 'is not a judgement';
  const { query, sample, attempt, turn, of, was } = row;
  const id: RolloutId = { run, query, sample, attempt };
  const name = `turn ${turn} of query ${JSON.stringify(query)}, sample ${sample}, attempt ${attempt}`;
  // Unreadable records are reported by the check of their rollout.
  const hash = await store.get('turn', id, turn).then(
    (found) => found?.hash,
    () => of,
  );
  if (hash === undefined) return `judges ${name}, which is not there`;
  if (hash !== of) return `judges another record of ${name}: ${of}, not ${hash}`;
  if (seen.has(of)) return `judges ${name} a second time`;
  seen.add(of);
  const own = await store.get('verdict', id, turn).catch(() => undefined);
  if (own && (own.record.verdict !== was.verdict || own.record.reason !== was.reason))
    return `says that ${name} was ${was.verdict} (${was.reason}); its record says ${own.record.verdict} (${own.record.reason})`;
  return undefined;
}

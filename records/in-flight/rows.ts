// Rollouts in flight as rows of a list, with the step that each waits for, from their files alone. A look reads the turns of
// those alone that have gone on since the look before.

import type { Doing, RolloutRow } from '../../domain/rollout/rollout-row.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { parseRolloutFolder } from '../format/layout.ts';
import { END_FILE, inOrder, parseRolloutFile, ROLLOUT_FILE, type RolloutFile } from '../format/rollout-file.ts';
import type { Owner } from '../format/text.ts';
import { mapAhead } from '../map-ahead.ts';
import { basename, join } from '../place.ts';
import { factsOf, namesIn, placeOf } from '../places/files.ts';
import { rowOf } from '../reading/row.ts';
import { rolloutFolders } from './listing.ts';

/** The rows that are new or others than in `seen`, which holds them by the paths of their folders. */
export async function* rowsInFlight(folder: string, seen: Map<string, RolloutRow>): AsyncGenerator<RolloutRow> {
  const gone = new Set(seen.keys());
  const looks = mapAhead(
    rolloutFolders(folder, () => {}),
    placeOf(folder).atOnce,
    async (path) => ({ path, row: await rowIn(join(folder, path), seen.get(path)) }),
  );
  for await (const { path, row } of looks) {
    gone.delete(path);
    const before = seen.get(path);
    if (!row || row === before) continue;
    seen.set(path, row);
    if (JSON.stringify(row) !== JSON.stringify(before)) yield row;
  }
  for (const path of gone) seen.delete(path);
}

async function rowIn(root: string, before: RolloutRow | undefined): Promise<RolloutRow | undefined> {
  // A flaw is looked for again each time.
  const known = before?.flaw === undefined ? before : undefined;
  // One that is a line by now may have some files left.
  if (known && known.state !== 'open') return known;
  const names = await namesIn(root);
  const doing = await doingOf(root, names);
  const stays = known?.doing && doing?.turn === known.doing.turn && doing.what === known.doing.what;
  if (stays) return { ...known, doing };
  const files = await placeOf(root).texts(root);
  const owner = ownerOf(files.text(ROLLOUT_FILE), basename(root));
  const row = owner && rowOf(files, owner);
  // Its first file goes first when it ends: what was read counts while that is there.
  if (!row || !(await placeOf(root).isThere(join(root, ROLLOUT_FILE)))) return undefined;
  return row.state === 'open' && doing ? { ...row, doing } : row;
}

/** Undefined if its first record is not there yet, or is torn: `check` names it. */
function ownerOf(text: string | undefined, folder: string): Owner | undefined {
  const place = parseRolloutFolder(folder);
  try {
    return text === undefined ? undefined : { query: (JSON.parse(text) as RolloutRecord).query.queryId, ...place! };
  } catch {
    return undefined;
  }
}

/** The step that an open rollout waits for; null if it has an end. */
async function doingOf(root: string, names: readonly string[]): Promise<Doing | null> {
  if (names.includes(END_FILE)) return null;
  const files = names.map((name) => parseRolloutFile(name));
  const turnsOf = (wanted: RolloutFile['kind']) =>
    files.flatMap((file) => (file.kind === wanted && 'turn' in file ? [file.turn] : []));
  const [turns, judged] = [Math.max(0, ...turnsOf('turn')), Math.max(0, ...turnsOf('verdict'))];
  const isJudging = turns > judged;
  const newest = inOrder(names.filter((_, i) => files[i]!.kind !== 'harmless' && files[i]!.kind !== 'foreign')).at(-1);
  return {
    turn: isJudging ? turns : turns + 1,
    what: isJudging ? 'judge' : 'answer',
    chunks: turnsOf('chunk').filter((turn) => turn === turns + 1).length,
    since: (newest === undefined ? undefined : (await factsOf(join(root, newest)))?.modifiedMs) ?? 0,
  };
}

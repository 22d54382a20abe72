// A torn record of a rollout. Our own writes are atomic, but a power cut, a broken disk or an interrupted copy may
// truncate a file. If no later record refers to it, it counts as never written: readers ignore it, the writer moves it
// aside and writes again, `check` names it. Otherwise it stays an error.

import { StoreError } from '../../domain/errors/errors.ts';
import { recordError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { namesIn } from '../places/files.ts';
import { parseRolloutFile, type RolloutFile } from '../format/rollout-file.ts';

/** The result of a read or write; undefined if it hit a torn record that no later record refers to. */
export async function unlessTorn<T>(folder: string, file: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'record-torn') throw error;
    const below = parseRolloutFile(file);
    // Its tool may have been called: nobody may write it again, and call a second time.
    const final = below.kind === 'intent';
    if (!final && !(await namesIn(folder)).some((name) => standsOn(parseRolloutFile(name), below))) return undefined;
    const path = join(folder, file);
    throw recordError(path, error.message.slice(path.length + 1));
  }
}

function standsOn(file: RolloutFile, below: RolloutFile): boolean {
  switch (below.kind) {
    case 'rollout':
      return file.kind !== 'rollout' && file.kind !== 'harmless' && file.kind !== 'foreign';
    case 'turn':
      return (
        file.kind === 'end' ||
        (file.kind === 'turn' && file.turn > below.turn) ||
        (file.kind === 'say' && file.turn > below.turn) ||
        ((file.kind === 'verdict' || file.kind === 'call' || file.kind === 'intent') && file.turn >= below.turn)
      );
    case 'verdict':
      return file.kind === 'end' || (file.kind === 'turn' && file.turn > below.turn);
    case 'call':
      return file.kind === 'end' || (file.kind === 'verdict' && file.turn >= below.turn);
    case 'say':
      return file.kind === 'end' || (file.kind === 'turn' && file.turn >= below.turn);
    case 'agent':
      return file.kind === 'end' || (file.kind === 'agent' && file.entry > below.entry);
    case 'chunk':
      return file.kind === 'chunk' && file.turn === below.turn && file.chunk > below.chunk;
    default:
      return false;
  }
}

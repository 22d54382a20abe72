// The weights of a run, in `<run>/weights`: one write-once file for each update that was declared, one that says that a
// server or the embedded model has loaded it, and the state of its servers, which is replaced. An update is in force from
// the moment it was loaded; a run whose weights were never changed has no such folder.

import { StoreError } from '../../domain/errors/errors.ts';
import type { DeclaredWeights, WeightsLedger, WeightsProgress } from '../../domain/weights/weights.ts';
import { join } from '../place.ts';
import { WEIGHTS } from '../format/layout.ts';
import { decodeRecord, encodeRecord } from '../format/text.ts';
import { namesIn, readText, replaceFile, writeOnce } from '../places/files.ts';

const ENTRY = /^(\d{6,})\.json$/;
const LOADED = /^(\d{6,})\.loaded$/;

export function openWeightsLedger(runFolder: string): WeightsLedger {
  const folder = join(runFolder, WEIGHTS);
  const path = (number: number, kind: string) => join(folder, `${String(number).padStart(6, '0')}.${kind}`);
  const known = new Map<number, DeclaredWeights>();

  async function entryOf(number: number): Promise<DeclaredWeights> {
    const before = known.get(number);
    if (before) return before;
    const file = path(number, 'json');
    const decoded = decodeRecord('weights', null, (await readText(file)) ?? '');
    if ('problem' in decoded) {
      throw new StoreError(`${file} ${decoded.problem}`, {
        reason: decoded.torn ? 'record-torn' : 'record-broken',
        fix: 'Without it nobody knows the weights of the run: restore it from a copy.',
      });
    }
    const entry = decoded.record as DeclaredWeights;
    known.set(number, entry);
    return entry;
  }
  const numbersIn = (names: readonly string[], pattern: RegExp) =>
    names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);
  const last = (names: readonly string[]) => Math.max(0, ...numbersIn(names, LOADED));

  return {
    async read() {
      const names = await namesIn(folder);
      const numbers = numbersIn(names, ENTRY).sort((a, b) => a - b);
      const entries = await Promise.all(numbers.map(entryOf));
      return { entries, current: entries.find(({ number }) => number === last(names)) ?? null };
    },
    async current() {
      const number = last(await namesIn(folder));
      return number > 0 ? entryOf(number) : null;
    },
    async declare(entry) {
      return writeOnce(path(entry.number, 'json'), encodeRecord('weights', null, entry).text);
    },
    async markLoaded(number) {
      await writeOnce(path(number, 'loaded'), '');
    },
    async note(number, progress) {
      await replaceFile(path(number, 'servers'), `${JSON.stringify(progress)}\n`);
    },
    async progress(number) {
      try {
        const said = JSON.parse((await readText(path(number, 'servers'))) ?? 'null') as WeightsProgress | null;
        return Array.isArray(said?.servers) && typeof said.state === 'string' ? said : null;
      } catch {
        return null; // of people's interest only
      }
    },
  };
}

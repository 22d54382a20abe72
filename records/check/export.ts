// Proves an export: one sample for each complete rollout, no id twice, and an earlier export file that is, line by line and to
// the byte, what the records give; the first line that is not is named. Memory: the ids, and the parts that wait for the file.

import { createHash } from 'node:crypto';
import { explain, StoreError } from '../../domain/errors/errors.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';
import { LEFT_OUT } from '../../domain/samples/group.ts';
import { type ExportedPart, type PartOptions, exportedParts } from '../export/exported-parts.ts';
import type { WhySkipped } from '../export/selection.ts';
import { fileError } from '../disk/errors.ts';
import { NameSet } from '../name-set.ts';
import type { OnBreach, Store } from '../store.ts';
import { readPart, streamOf } from '../places/files.ts';

/** With the options of that export. */
export interface ExportCheck extends PartOptions {
  readonly exporter: Exporter;
  /** An earlier export file. */
  readonly file?: string;
}

export interface ExportFacts {
  readonly format: string;
  readonly samples: number;
  /** The hash of the export as a file. */
  readonly sha256: string;
}

/** Left out by the group filter, or as having no place in the format. */
const LEFT_OUT_BY_NAME: ReadonlySet<WhySkipped> = new Set([...LEFT_OUT, 'no-right-answer', 'text-prompt']);

export function openExportCheck({ exporter, file, verdicts }: ExportCheck, onBreach: OnBreach) {
  const path = `export --format ${exporter.name}`;
  const whole = createHash('sha256');
  const ids = new NameSet();
  let samples = 0;
  /** With or without a sample. */
  let taken = 0;
  const compared = file === undefined ? undefined : openFile(file, (problem) => onBreach({ path: file, problem }));
  return {
    /** In the order of the export. */
    async part({ bytes, samples: made, skipped }: ExportedPart): Promise<void> {
      for (const { query, sample, outcome, problem } of skipped)
        if (outcome === 'broken') onBreach({ path, problem: `cannot export ${nameOf({ query, sample })}: ${problem}` });
      whole.update(bytes);
      samples += made.filter(({ further }) => !further).length;
      const leftOut = skipped.filter(({ outcome }) => LEFT_OUT_BY_NAME.has(outcome));
      taken += new Set([...made, ...leftOut].map(nameOf)).size;
      for (const one of made)
        if (one.id !== null && !ids.add(one.id))
          onBreach({ path, problem: `gives ${nameOf(one)} the id ${JSON.stringify(one.id)}, which another one has` });
      await compared?.part(bytes, made);
    },

    /** After the last part. `isFinal`: every rollout has ended, and none is added any more. */
    async end(complete: number, isFinal: boolean): Promise<ExportFacts> {
      // People's verdicts may leave a complete rollout out, or complete an undecided one.
      if (verdicts !== 'human' && (taken < complete || (isFinal && taken > complete)))
        onBreach({ path, problem: `gives ${taken} samples; the records hold ${complete} to be exported` });
      await compared?.end();
      return { format: exporter.name, samples, sha256: whole.digest('hex') };
    },
  };
}

const LF = 10;

/** Compares a file with the parts in turn, up to the first difference. */
function openFile(file: string, onProblem: (problem: string) => void) {
  const chunks = streamOf(file)[Symbol.asyncIterator]();
  let read: Uint8Array = new Uint8Array();
  let lines = 0;
  let isOver = false;

  function say(problem: string): void {
    isOver = true;
    onProblem(problem);
  }

  /** At most so many bytes; fewer at the file's end. */
  async function take(count: number): Promise<Uint8Array> {
    const taken = [read];
    let length = read.length;
    try {
      for (let next; length < count && !(next = await chunks.next()).done; length += next.value.length)
        taken.push(next.value);
    } catch (error) {
      say(explain(fileError('read', file, error)));
    }
    const all = Buffer.concat(taken);
    read = all.subarray(count);
    return all.subarray(0, count);
  }

  return {
    async part(bytes: Uint8Array, samples: ExportedPart['samples']): Promise<void> {
      if (isOver) return;
      const found = await take(bytes.length);
      if (isOver || Buffer.compare(found, bytes) === 0) return void (lines += linesIn(bytes));
      const at = found.findIndex((byte, i) => byte !== bytes[i]);
      const same = bytes.subarray(0, at < 0 ? found.length : at);
      let left = linesIn(same);
      const line = lines + left + 1;
      const sample = samples.find((one) => (left -= one.lines) < 0)!;
      const isCut = at < 0;
      const what = isCut && same.at(-1) !== LF && same.length > 0 ? 'is torn' : isCut ? 'is missing' : 'is another';
      say(`line ${line} ${what}: the records give ${nameOf(sample)} there`);
    },

    async end(): Promise<void> {
      if (!isOver && (await take(1)).length > 0) say(`line ${lines + 1} is none that the records give`);
      await chunks.return?.(undefined);
    },
  };
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}

interface Named {
  readonly query: string;
  readonly sample: number;
}

const nameOf = ({ query, sample }: Named) => `query ${JSON.stringify(query)}, sample ${sample}`;

interface Candidate {
  readonly exporter: Exporter;
  readonly selection: PartOptions;
}

/** The first of several that give the same. */
export async function asWritten<T extends Candidate>(store: Store, file: string, candidates: readonly T[]): Promise<T> {
  const tries = candidates.map((one) => ({ one, parts: exportedParts(store, one.exporter, one.selection), same: 0 }));
  try {
    for (let left = tries; left.length > 1;) {
      const going: typeof tries = [];
      for (const one of left) {
        const next = await one.parts.next();
        if (next.done) return one.one;
        const { bytes } = next.value;
        const same = commonLength(await readPart(file, one.same, bytes.length), bytes);
        one.same += same;
        if (same === bytes.length) going.push(one);
      }
      left = going;
    }
    return tries.toSorted((a, b) => b.same - a.same)[0]!.one;
  } catch (error) {
    // Damaged records are for the check itself to name.
    if (error instanceof StoreError && !error.retryable) return candidates[0]!;
    throw error;
  } finally {
    for (const { parts } of tries) await parts.return(undefined);
  }
}

/** `one` is not the longer. */
function commonLength(one: Uint8Array, other: Uint8Array): number {
  const at = one.findIndex((byte, i) => byte !== other[i]);
  return at < 0 ? one.length : at;
}

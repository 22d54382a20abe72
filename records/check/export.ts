// Proves an export: one sample for each complete rollout, and an earlier export file holds exactly the samples that the
// records give today: each line once, in order, to the byte, and no id twice. A line of an older Everturn, with its
// former id, counts as well. Memory: a hash and an id for each line.

import { createHash } from 'node:crypto';
import type { LineMaker } from '../encoder.ts';
import type { ExportedPart } from '../exported-parts.ts';
import type { ReadingOptions } from '../reading.ts';
import { fileError } from '../disk/errors.ts';
import { streamOf } from '../disk/facts.ts';
import type { OnBreach } from '../store.ts';

/** With the policies of that export. */
export interface ExportCheck extends ReadingOptions {
  readonly exporter: LineMaker & { readonly name: string };
  /** An earlier export file. */
  readonly file?: string;
}

export interface ExportFacts {
  readonly format: string;
  readonly samples: number;
  /** Of the export as a file. */
  readonly sha256: string;
}

/** Counts from the check of the records. */
export interface Seen {
  /** Samples whose last attempt is exported: complete, or with finished turns that the policy includes. */
  readonly complete: number;
  /** Whether every rollout has ended: then an export made now is final. */
  readonly ended: boolean;
}

export interface ExportProof {
  /** In the order of the export. */
  part(made: ExportedPart): void;
  /** After the last part. */
  end(seen: Seen): Promise<ExportFacts>;
}

export function openExportCheck({ exporter, file, ...selection }: ExportCheck, onBreach: OnBreach): ExportProof {
  const path = `export --format ${exporter.name}`;
  const whole = createHash('sha256');
  const [lines, formerLines] = [new Map<string, Line>(), new Map<string, Line>()];
  const ids = new Map<string, Named>();
  let samples = 0;
  let place = 0;
  return {
    part(made) {
      for (const { query, sample, outcome, problem } of made.skipped)
        if (outcome === 'broken') onBreach({ path, problem: `cannot export ${nameOf({ query, sample })}: ${problem}` });
      whole.update(made.bytes);
      for (const { query, sample, id, hashes = [], former } of made.samples) {
        samples++;
        const named = { query, sample };
        const other = id === null ? undefined : ids.get(id);
        if (other)
          onBreach({
            path,
            problem: `gives ${nameOf(named)} the id ${JSON.stringify(id)}, which ${nameOf(other)} has`,
          });
        if (id !== null) ids.set(id, named);
        for (const [i, hash] of hashes.entries()) {
          const of = { ...named, place: place++ };
          lines.set(hash, { of, id });
          const formerly = former?.hashes[i];
          if (formerly !== undefined) formerLines.set(formerly, { of, id: former!.id });
        }
      }
    },

    async end(seen) {
      // People's verdicts may leave a complete rollout out, or complete an undecided one.
      const counted = selection.verdicts !== 'human';
      if (counted && (samples < seen.complete || (seen.ended && samples > seen.complete))) {
        onBreach({ path, problem: `gives ${samples} samples; the records hold ${seen.complete} to be exported` });
      }
      if (file !== undefined) await checkFile(file, lines, formerLines, (problem) => onBreach({ path: file, problem }));
      return { format: exporter.name, samples, sha256: whole.digest('hex') };
    },
  };
}

/** The accepted forms of a line. */
interface Line {
  readonly of: { readonly query: string; readonly sample: number; readonly place: number };
  /** The id in this line. */
  readonly id: string | null;
}

async function checkFile(
  file: string,
  expected: ReadonlyMap<string, Line>,
  former: ReadonlyMap<string, Line>,
  say: (problem: string) => void,
): Promise<void> {
  const found = new Map<number, number>();
  const ids = new Map<string, number>();
  let number = 0;
  let last = -1;
  try {
    for await (const hash of lineHashes(file)) {
      number++;
      const line = hash === null ? undefined : (expected.get(hash) ?? former.get(hash));
      const before = line && found.get(line.of.place);
      if (hash === null) say(`line ${number} is torn: its end is missing`);
      else if (!line) say(`line ${number} is none that the records give`);
      else if (before !== undefined) say(`line ${number} repeats line ${before}`);
      else {
        if (line.of.place < last) say(`line ${number} stands out of order: ${nameOf(line.of)}`);
        last = Math.max(last, line.of.place);
        found.set(line.of.place, number);
        const { id } = line;
        const same = id === null ? undefined : ids.get(id);
        if (same !== undefined)
          say(`line ${number} has the id ${JSON.stringify(id)} of line ${same}: export the run again, which escapes @`);
        if (id !== null) ids.set(id, number);
      }
    }
  } catch (error) {
    const problem = fileError('read', file, error);
    return say(problem instanceof Error ? problem.message : String(problem));
  }
  for (const { of } of expected.values()) if (!found.has(of.place)) say(`lacks ${nameOf(of)}`);
}

/** SHA-256 of each line with its LF; null for a line without one. No line is held in memory. */
async function* lineHashes(file: string): AsyncGenerator<string | null> {
  let hash = createHash('sha256');
  let open = false;
  for await (const part of streamOf(file)) {
    let from = 0;
    for (let to = part.indexOf(10) + 1; to > 0; to = part.indexOf(10, from) + 1) {
      yield hash.update(part.subarray(from, to)).digest('hex');
      hash = createHash('sha256');
      open = false;
      from = to;
    }
    if (from < part.length) {
      hash.update(part.subarray(from));
      open = true;
    }
  }
  if (open) yield null;
}

interface Named {
  readonly query: string;
  readonly sample: number;
}

const nameOf = ({ query, sample }: Named) => `query ${JSON.stringify(query)}, sample ${sample}`;

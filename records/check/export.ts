// Proves an export: one sample for each complete rollout, and an earlier export file holds exactly the samples that the
// records give: each line once, in order, to the byte, and no id twice. Memory: a hash for each line, an id for each sample.

import { createHash } from 'node:crypto';
import type { LineMaker } from '../export/encoder.ts';
import type { ExportedPart } from '../export/exported-parts.ts';
import type { ReadingOptions } from '../export/policies.ts';
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
  const lines = new Map<string, Line>();
  const ids = new Map<string, Named>();
  let samples = 0;
  let place = 0;
  return {
    part(made) {
      for (const { query, sample, outcome, problem } of made.skipped)
        if (outcome === 'broken') onBreach({ path, problem: `cannot export ${nameOf({ query, sample })}: ${problem}` });
      whole.update(made.bytes);
      for (const { query, sample, id, hashes = [] } of made.samples) {
        samples++;
        const named = { query, sample };
        const other = id === null ? undefined : ids.get(id);
        if (other)
          onBreach({
            path,
            problem: `gives ${nameOf(named)} the id ${JSON.stringify(id)}, which ${nameOf(other)} has`,
          });
        if (id !== null) ids.set(id, named);
        for (const hash of hashes) lines.set(hash, { ...named, place: place++ });
      }
    },

    async end(seen) {
      // People's verdicts may leave a complete rollout out, or complete an undecided one.
      const counted = selection.verdicts !== 'human';
      if (counted && (samples < seen.complete || (seen.ended && samples > seen.complete))) {
        onBreach({ path, problem: `gives ${samples} samples; the records hold ${seen.complete} to be exported` });
      }
      if (file !== undefined) await checkFile(file, lines, (problem) => onBreach({ path: file, problem }));
      return { format: exporter.name, samples, sha256: whole.digest('hex') };
    },
  };
}

interface Line extends Named {
  readonly place: number;
}

async function checkFile(
  file: string,
  expected: ReadonlyMap<string, Line>,
  say: (problem: string) => void,
): Promise<void> {
  const found = new Map<number, number>();
  let number = 0;
  let last = -1;
  try {
    for await (const hash of lineHashes(file)) {
      number++;
      const line = hash === null ? undefined : expected.get(hash);
      const before = line && found.get(line.place);
      if (hash === null) say(`line ${number} is torn: its end is missing`);
      else if (!line) say(`line ${number} is none that the records give`);
      else if (before !== undefined) say(`line ${number} repeats line ${before}`);
      else {
        if (line.place < last) say(`line ${number} stands out of order: ${nameOf(line)}`);
        last = Math.max(last, line.place);
        found.set(line.place, number);
      }
    }
  } catch (error) {
    const problem = fileError('read', file, error);
    return say(problem instanceof Error ? problem.message : String(problem));
  }
  for (const line of expected.values()) if (!found.has(line.place)) say(`lacks ${nameOf(line)}`);
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

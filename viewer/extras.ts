// More about a run than its pages hold: a record as it is stored, a rollout as an export writes it, the proof of the whole
// run. Only the server has them, a report has not. Reads only; one proof at a time.

import { explain, UsageError } from '../domain/errors/errors.ts';
import type { OnBreach } from '../records/store.ts';
import { END_FILE, ROLLOUT_FILE, rolloutFolder, turnFile, verdictFile } from '../records/format/layout.ts';
import { join } from 'node:path';
import type { CheckMessage, RowPlace } from './model/messages.ts';
import { mustBePlain, readTail } from './plain-files.ts';
import type { OpenRun, Runs } from './runs.ts';

/** A text that is sent as it is. */
export interface PlainText {
  readonly plain: string;
}

export interface ExtraParts {
  readonly runs: Runs;
  /** The lines of the export that a trainer reads; throws for a rollout that is in none. */
  readonly sampleOf: (open: OpenRun, place: RowPlace) => Promise<string>;
  /** The proof of `everturn check`, without Temporal; returns its sentence. */
  readonly prove: (open: OpenRun, onBreach: OnBreach) => Promise<string>;
  readonly now: () => number;
}

export const RECORDS = ['turn', 'verdict', 'rollout', 'end'] as const;
export type RecordName = (typeof RECORDS)[number];

export interface Extras {
  record(run: string, place: RowPlace, name: RecordName, turn: number): Promise<PlainText>;
  sample(run: string, place: RowPlace): Promise<PlainText>;
  /** The last proof of the run, or the one that goes on; `begin` begins one. */
  check(run: string, begin: boolean): Promise<CheckMessage>;
}

/** The first breaches are shown; all are counted. */
const SHOWN = 50;
const NO_CHECK: CheckMessage = { state: 'none', at: null, said: null, problem: null, breaches: 0, first: [] };

export function openExtras({ runs, sampleOf, prove, now }: ExtraParts): Extras {
  const checks = new WeakMap<OpenRun, CheckMessage>();
  let last: Promise<void> = Promise.resolve();

  async function proveNow(open: OpenRun): Promise<void> {
    const found: CheckMessage['first'][number][] = [];
    let breaches = 0;
    const note: OnBreach = ({ path, problem }) => {
      if (++breaches <= SHOWN) found.push({ path, problem });
      checks.set(open, { ...NO_CHECK, state: 'going', breaches, first: found });
    };
    const done = { ...NO_CHECK, state: 'done' } as const;
    try {
      const said = await prove(open, note);
      checks.set(open, { ...done, at: now(), said, breaches, first: found });
    } catch (error) {
      checks.set(open, { ...done, at: now(), problem: explain(error), breaches, first: found });
    }
  }

  return {
    async record(run, place, name, turn) {
      const { store } = await runs.open(run);
      const id = { run, ...place };
      const folder = rolloutFolder(id);
      mustBePlain(store.folder, folder);
      const file = FILES[name](turn);
      const records = await store.recordsOf(id);
      const text = records ? records.text(file) : readTail(join(store.folder, folder, file));
      if (text !== undefined) return { plain: text };
      throw new UsageError(`This rollout has no ${file}.`, {
        reason: 'no-such-rollout',
        fix: 'Its page names the turns that it has.',
      });
    },
    async sample(run, place) {
      const open = await runs.open(run);
      mustBePlain(open.store.folder, rolloutFolder(place));
      return { plain: await sampleOf(open, place) };
    },
    async check(run, begin) {
      const open = await runs.open(run);
      const known = checks.get(open);
      if (!begin || known?.state === 'going') return known ?? NO_CHECK;
      const going: CheckMessage = { ...NO_CHECK, state: 'going' };
      checks.set(open, going);
      last = last.then(() => proveNow(open));
      return going;
    },
  };
}

const FILES: Readonly<Record<RecordName, (turn: number) => string>> = {
  turn: turnFile,
  verdict: verdictFile,
  rollout: () => ROLLOUT_FILE,
  end: () => END_FILE,
};

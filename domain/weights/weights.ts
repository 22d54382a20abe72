// New weights for a run: the messages of the workflow `updateWeights`, the entries that a run's folder holds of them, and
// the rule of which update may follow which. Versions go up; one that goes back must be declared as a rewind. Pure.

import { UsageError } from '../errors/errors.ts';
import { BOOLEAN, COUNT, HASH, INT32, maybe, NAME, type ObjectOf, orNull, PLACE } from '../schema/fields.ts';
import { ADAPTER } from './adapter.ts';
import { UNNUMBERED, versionNumber } from './weight-version.ts';
import { escapeMarkdown } from '../text/foreign-text.ts';

/** The input of `updateWeights`. */
export interface WeightsInput {
  readonly run: string;
  /** The folder of runs, absolute. */
  readonly out: string;
  /** An integer in [0, 2^31), above the version in force unless `rewind` says otherwise. */
  readonly version: number;
  /** The folder of the weights, absolute, as servers and workers see it. */
  readonly weights: string;
  /** The folder holds an adapter of the model, not weights of its own. */
  readonly adapter?: boolean;
  /** The servers' own name for the version; default: derived from the number. Must stand for `version`. */
  readonly label?: string;
  /** The trainer goes back to an older checkpoint on purpose. */
  readonly rewind?: boolean;
  /** Only these of the run's servers; default all. */
  readonly servers?: readonly string[];
  /** Environment variable of the servers' key; default the run's. */
  readonly apiKeyEnv?: string | null;
}

/** One update of a run, as its folder holds it: written once. */
export const WEIGHTS_ENTRY = {
  /** Its place among the run's updates, 1-based. */
  number: PLACE,
  version: INT32,
  label: NAME,
  folder: NAME,
  rewind: BOOLEAN,
  /** Rewinds so far: after each, version numbers come again with other weights. */
  line: COUNT,
  /** The hash of the files of an embedded model. */
  contentHash: orNull(HASH),
  workflowId: NAME,
  declaredAt: COUNT,
  /** Present if the folder holds an adapter. */
  adapter: maybe(ADAPTER),
};
export type DeclaredWeights = ObjectOf<typeof WEIGHTS_ENTRY>;

/**
 * updated     it has the new weights, and generates
 * already     it had that version; it generates
 * refused     it generates with the weights it had
 * unsure      which weights it has is unknown: it generates under a label of its own, and the run does not use it
 * paused      it could not be resumed, and may still be paused
 * unreached   it could not be asked; it has what it had, or what it is started with
 * not-asked   another server could not load the weights, or the update was cancelled or superseded
 */
export type UpdateState = 'updated' | 'already' | 'refused' | 'unsure' | 'paused' | 'unreached' | 'not-asked';

export interface ServerUpdate {
  readonly url: string;
  readonly state: UpdateState;
  /** Its own label before and after; null where it is unknown. */
  readonly before: string | null;
  readonly now: string | null;
  readonly tookMs: number;
  readonly reason: string | null;
  readonly error: string | null;
}

/** The step that a server is in. */
export type UpdateStep = 'waiting' | 'pausing' | 'loading' | 'continuing' | 'done';

/** running: not ended. whole: every server has the version. partial: some. none: not one. */
export type WeightsState = 'running' | 'whole' | 'partial' | 'none' | 'superseded' | 'cancelled';

export interface WeightsResult {
  readonly run: string;
  readonly version: number;
  readonly label: string;
  readonly weights: string;
  readonly state: WeightsState;
  /** Empty for an embedded model: each worker loads the version before its next turn. */
  readonly servers: readonly ServerUpdate[];
}

/** The answer to the query `progress`; `label` is null until the update is declared. */
export interface WeightsProgress extends Omit<WeightsResult, 'label'> {
  readonly label: string | null;
  readonly steps: Readonly<Record<string, UpdateStep>>;
}

/** The label of weights that may be either version. It has no number of its own. */
const UNSURE = 'unsure';
export const unsureLabel = (label: string): string => `${UNSURE}/${label}?`;

const INT32_END = 2 ** 31;

/** `<run>/weights-<version>`, `<run>/rewind-<version>`: no rollout has an id of two parts. */
export function weightsWorkflowId({ run, version, rewind }: Pick<WeightsInput, 'run' | 'version' | 'rewind'>): string {
  return `${run}/${rewind ? 'rewind' : 'weights'}-${version}`;
}

/** What asks for the same update once more. */
export const repeated = (entry: DeclaredWeights) => {
  const { version, label, folder: weights, rewind } = entry;
  return { version, label, weights, rewind, adapter: isAdapter(entry) };
};

type Wanted = Pick<WeightsInput, 'version' | 'label' | 'rewind' | 'adapter'> & { readonly folder: string };

/** The entry in force: the last one that a server, or the embedded model, has loaded. */
interface Known {
  readonly entries: readonly DeclaredWeights[];
  readonly current: DeclaredWeights | null;
}

/** The entry that this is a repetition of, or the next one. Throws a UsageError for one that may not follow. */
export function nextWeights(
  { entries, current }: Known,
  wanted: Wanted,
): DeclaredWeights | Omit<DeclaredWeights, 'contentHash' | 'workflowId' | 'declaredAt'> {
  const { version, folder, rewind = false, adapter = false } = wanted;
  mustBeVersion(wanted);
  const same = (entry: DeclaredWeights | null | undefined) =>
    entry?.version === version &&
    entry.folder === folder &&
    isAdapter(entry) === adapter &&
    (wanted.label ?? entry.label) === entry.label &&
    // Repeated without its rewind, it is the version in force all the same.
    (entry.rewind === rewind || !rewind);
  const latest = entries.at(-1);
  if (latest && same(latest)) return latest;
  if (current && same(current)) return current;
  if (current && isAdapter(current) !== adapter) throw otherKind(current);
  if (current && !rewind && goesBack(current.version, version)) throw wentBack(current, wanted);
  if (current && rewind && version > current.version) {
    throw new UsageError(`A rewind to version ${version} goes forward: version ${current.version} is in force.`, {
      reason: 'version-goes-back',
      fix: 'Declare it as a version.',
    });
  }
  const line = (current?.line ?? 0) + (rewind ? 1 : 0);
  const label = wanted.label ?? (line === 0 ? String(version) : `r${line}:v${version}`);
  const taken = entries.find((entry) => entry.label === label && entry.folder !== folder && entry.number <= loaded());
  if (taken) {
    throw new UsageError(`The label ${JSON.stringify(label)} stands for the weights in ${taken.folder} already.`, {
      reason: 'version-goes-back',
      fix: 'Other weights need another label.',
    });
  }
  return { number: (latest?.number ?? 0) + 1, version, label, folder, rewind, line };

  function loaded(): number {
    return current?.number ?? 0;
  }
}

const isAdapter = ({ adapter }: DeclaredWeights): boolean => adapter !== undefined;

/** Answers in flight would be of a model and an adapter that were never together. */
function otherKind({ version, adapter }: DeclaredWeights): UsageError {
  const is = adapter ? 'an adapter of the model that the run began with' : 'weights of their own';
  return new UsageError(`Version ${version}, which is in force, is ${is}: the next one is of the same kind.`, {
    reason: 'not-allowed',
    fix: 'Start another run, with the adapter merged into its model.',
  });
}

function goesBack(current: number, version: number): boolean {
  if (version === current) return true;
  return version < current && current < UNNUMBERED;
}

function wentBack(current: DeclaredWeights, { version, folder }: Wanted): UsageError {
  const same = version === current.version;
  return new UsageError(
    same
      ? `Version ${version} stands for the weights in ${current.folder}, not for those in ${folder}.`
      : `Version ${version} goes back: version ${current.version} is in force.`,
    {
      reason: 'version-goes-back',
      fix: same
        ? 'Other weights need a higher version.'
        : 'Give a higher version, or declare a rewind (`rewind`, --rewind).',
    },
  );
}

/** A version is stored in every record, and repeated by servers. */
function mustBeVersion({ version, label }: Wanted): void {
  if (!Number.isSafeInteger(version) || version < 0 || version >= INT32_END) {
    throw new UsageError(`\`version\` is ${short(version)}.`, {
      reason: 'bad-value',
      fix: 'It takes a whole number from 0 to 2147483647.',
    });
  }
  if (label === undefined) return;
  const isLabel = typeof label === 'string' && /^[\x21-\x7e]{1,200}$/.test(label) && label !== 'default';
  if (isLabel && !label.startsWith(UNSURE) && versionNumber(label) === version) return;
  throw new UsageError(`\`label\` is ${short(label)}, and the version is ${version}.`, {
    reason: 'bad-value',
    fix: 'A label has no spaces, and ends in the version, as in step-7; `default` means weights that were never updated.',
  });
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 200);
}

/**
 * Must a server that says it has `label` first get the version in force? Not where somebody else gave it weights that
 * the run has never seen: then it has them on purpose.
 */
export function isLate(label: string | null, { entries, current }: Known): boolean {
  // The label is of the model under an adapter, and stays.
  if (!current || current.adapter || label === null || label === current.label) return false;
  if (label === 'default' || label === '' || label.startsWith(UNSURE)) return true;
  return entries.some((entry) => entry.label === label);
}

/** The state of an update, from what became of each server. */
export function updateStateOf(servers: readonly ServerUpdate[], isAdapter = false): 'whole' | 'partial' | 'none' {
  // No request names an adapter that a server has refused: all go on with the one before.
  if (isAdapter && servers.some(({ state }) => state === 'refused')) return 'none';
  const have = servers.filter(({ state }) => state === 'updated' || state === 'already').length;
  return have === servers.length ? 'whole' : have > 0 ? 'partial' : 'none';
}

export function weightsTable({ label, weights, state, servers, steps }: WeightsProgress): string {
  const head = `**${escapeMarkdown(label ?? '…')}** · ${state} · ${escapeMarkdown(weights)}`;
  const urls = Object.keys(steps);
  if (urls.length === 0) return head;
  const rows = urls.map((url) => {
    const done = servers.find((server) => server.url === url);
    const cells = [url, done?.state ?? steps[url]!, done?.before ?? '', done?.now ?? '', done?.error ?? ''];
    return `| ${cells.map((cell) => escapeMarkdown(cell.slice(0, 300))).join(' | ')} |`;
  });
  return [head, '', '| server | state | before | now | |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** One server while it gets other weights: the few calls that weights-saga.ts needs. A ModelError if it did not do one. */
export interface WeightServer {
  readonly url: string;
  /** The server's label of its weights; null if it reports none. */
  version(): Promise<string | null>;
  /** Stops generation. Answers in flight continue after `resume`, with their contexts recomputed. */
  pause(): Promise<void>;
  /** Only while paused. The label changes last: a server that reports it has completed all other steps. */
  load(folder: string, label: string): Promise<void>;
  resume(): Promise<void>;
  /** Changes only the label of the weights. */
  name(label: string): Promise<void>;
  /** After a failed `load`: true if the old weights are certainly intact; otherwise they are unknown. */
  keptItsWeights(error: unknown): boolean;
  close(): Promise<void>;
}

/** The updates of one run's weights. */
export interface WeightsLedger {
  read(): Promise<Known>;
  /** The weights of the update that is in force; cheap, for every turn asks. */
  current(): Promise<DeclaredWeights | null>;
  /** False if its number is taken. */
  declare(entry: DeclaredWeights): Promise<boolean>;
  markLoaded(number: number): Promise<void>;
  /** Replaces what was said of its servers. */
  note(number: number, progress: WeightsProgress): Promise<void>;
  progress(number: number): Promise<WeightsProgress | null>;
}

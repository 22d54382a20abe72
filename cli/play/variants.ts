// Several runs of one data set in one command: a run for each --model, and for each value of --vary. They play side by
// side under one limit, and end in one table.

import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { addCounts, noCounts } from '../../domain/run/progress.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { optionNamed } from '../../run/config.ts';
import { mustBeRunName, type PreparedRun } from '../../run/prepare-run.ts';
import { newRunOf, startRun } from '../../run/start-run.ts';
import { FIELDS } from '../../run/options.ts';
import { type Answer, flagOf, unusable } from '../command.ts';
import { EXIT, type ExitCode, exitCodeOfResult } from '../exit.ts';
import { withLink } from '../find/link.ts';
import { runArgument } from '../find/place.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import type { CostOf } from '../find/prices.ts';
import { tableOfRuns } from '../view/comparison-text.ts';
import { type Io, say, typable } from '../io.ts';
import { resolveRunFlags, type RunFlags } from '../run-flags.ts';
import { openProgressView, type ProgressView } from '../view/progress-view.ts';
import { causeOf } from './ending.ts';
import { follow } from './follow.ts';
import { dryRun } from './dry-run.ts';
import { playedLines, type PlayOptions, prepare, sayEnded, sayStarted } from './play-run.ts';
import { callerOf } from './say-event.ts';

export interface Variant {
  /** The difference: `gpt-x, temperature=0`. Empty for the only one. */
  readonly label: string;
  readonly flags: Readonly<Record<string, unknown>>;
}

const MOST = 32;
const MOST_OF_NAME = 100;

type Choice = readonly [key: string, value: unknown, label: string];

/** One variant where nothing is varied. Throws a UsageError. */
export function variantsOf(models: readonly string[], vary: readonly string[], flags: RunFlags): Variant[] {
  const axes: Choice[][] = models.length === 0 ? [] : [modelChoices(models)];
  for (const given of vary) {
    const [name, ...rest] = given.split('=');
    const values = rest.join('=').split(',');
    const key = optionNamed(name!, '--vary');
    if (rest.length === 0 || values.includes(''))
      throw unusable(`--vary ${JSON.stringify(given)} names no values.`, 'Write --vary temperature=0,0.7,1.');
    if (axes.some(([first]) => first![0] === key) || flags[key] !== undefined)
      throw unusable(`${flagOf(key)} is given twice.`, `Leave ${flagOf(key)} out, or --vary ${key}.`);
    axes.push(values.map((value) => [key, 'many' in FIELDS[key] ? [value] : value, `${key}=${value}`]));
  }
  const all = axes.reduce<Choice[][]>((sets, axis) => sets.flatMap((set) => axis.map((one) => [...set, one])), [[]]);
  if (all.length > MOST) throw unusable(`These are ${all.length} runs.`, `Ask for at most ${MOST} in one command.`);
  return all.map((set) => ({
    label: set.flatMap(([key, , label]) => (key === 'model' && models.length === 1 ? [] : label)).join(', '),
    flags: Object.fromEntries(set.map(([key, value]) => [key, value])),
  }));
}

/** By the part behind `#`, if that tells them apart. */
function modelChoices(models: readonly string[]): Choice[] {
  const short = models.map((model) => model.slice(model.indexOf('#') + 1));
  const names = new Set(short).size === models.length ? short : models;
  return models.map((model, i) => ['model', model, names[i]!]);
}

type Common = Omit<PlayOptions, 'resolved' | 'viewer'>;

export async function playVariants(
  io: Io,
  given: Common & RunFlags,
  variants: readonly Variant[],
  costOf: CostOf,
): Promise<Answer | ExitCode | void> {
  const resolved = variants.map(({ flags }) => resolveRunFlags({ ...given, ...flags }, io));
  if (resolved.some(({ options }) => options.train))
    throw unusable('A trainer lives on one run.', 'Give --train with one model, and without --vary.');
  const runs: PreparedRun[] = [];
  if (given.name !== undefined) mustBeRunName(given.name);
  const slugs = slugsOf(
    variants.map(({ label }) => label),
    MOST_OF_NAME - (given.name?.length ?? 0) - 1,
  );
  for (const [i, one] of resolved.entries()) {
    const maxConcurrent = Math.max(1, Math.floor(one.options.maxConcurrent / variants.length));
    const name = given.name && `${given.name}-${slugs[i]!}`;
    const options = { ...one.options, maxConcurrent };
    say(io, `${i === 0 ? '' : '\n'}${variants[i]!.label}`);
    runs.push(await prepare(io, { ...given, name, resolved: { ...one, options } }));
  }
  // None begins before each model has answered.
  for (const prepared of runs) await beginBeside(io, prepared, given);
  if (given.dryRun || given.detach) return;
  const places = runs.map(({ place }) => place);
  const open = (await Promise.all(places.map(async (place) => ((await knownResult(place)) ? [] : [place])))).flat();
  if (open.length > 0 && (await followed(io, open, places, given.json)) === 'detached') return EXIT.detached;
  const labels = variants.map(({ label }) => label);
  const { maxFailed } = resolved[0]!.options;
  const results = await Promise.all(places.map(knownResult));
  const codes = results.map((result) => (result ? exitCodeOfResult(result, maxFailed) : EXIT.failed));
  const table = await tableOfRuns(io, places, { labels, costOf });
  const causes = results.flatMap((result, i) =>
    result && codes[i] !== EXIT.ok
      ? [causeOf({ place: places[i]!, result, maxFailed }).then((cause) => `everturn: ${labels[i]!}: ${cause}`)]
      : [],
  );
  const notes = [...(table.notes ?? []), ...(await Promise.all(causes))];
  const names = places.map((place) => runArgument(io, place)).join(' ');
  // The viewer shows runs in folders.
  const viewer = isBucketPlace(places[0]!.out) ? '' : typable(io, `\n\nViewer     everturn view ${names}\n`);
  return { ...table, notes, text: `${table.text}${viewer}`, code: codes.find((code) => code !== EXIT.ok) ?? EXIT.ok };
}

/** Parts of names of runs, distinct, of at most so many characters: the words of each label, or its number before them. */
export function slugsOf(labels: readonly string[], most: number): readonly string[] {
  const cut = (text: string) => text.slice(0, Math.max(2, Math.min(60, most))).replace(/[._-]+$/, '');
  const words = labels.map((label) => (label.match(/[a-z\d]+(?:[._-][a-z\d]+)*/gi) ?? []).join('-'));
  const slugs = words.map(cut);
  const areDistinct = new Set(slugs).size === slugs.length && !slugs.includes('');
  return areDistinct ? slugs : words.map((text, i) => cut(`${i + 1}-${text}`));
}

/** Starts one of the runs; with --dry-run says its plan. */
async function beginBeside(io: Io, prepared: PreparedRun, given: Common): Promise<void> {
  const { place, isThere } = prepared;
  if (given.dryRun) return say(io, textOf(await dryRun(io, prepared)));
  const known = isThere && (await knownResult(place));
  if (known) return sayEnded(io, place, known);
  const started = await startRun(newRunOf(prepared, given.dataset), callerOf(io, given));
  try {
    await sayStarted(io, place, started, given.json, await playedLines(io, started.link, prepared));
  } finally {
    await started.link.close();
  }
}

const textOf = ({ text = '' }: Answer): string => (typeof text === 'string' ? text : text());

/** Follows all of them as one: their counts are added. */
function followed(io: Io, open: readonly RunPlace[], all: readonly RunPlace[], json: boolean) {
  return withLink(io, async (link) => {
    const view = openProgressView(io, json);
    const latest = new Map<string, CollectionProgress>();
    // Shown once each run was heard of: the total is then that of all.
    const unheard = new Set(open.map(({ run }) => run));
    const viewOf = ({ run }: RunPlace): ProgressView => {
      let noted: string | null = null;
      return {
        progress(progress) {
          latest.set(run, progress);
          unheard.delete(run);
          if (unheard.size === 0) view.progress(together([...latest.values()]));
        },
        note(text) {
          if (text !== noted && text !== null) view.note(`${run}: ${text}`);
          noted = text;
        },
        end: () => void unheard.delete(run),
      };
    };
    const shown = all.length === open.length ? '' : ` (${all.length - open.length} have ended)`;
    say(
      io,
      `\n${all.length} runs side by side${shown}. Ctrl-C detaches; the runs continue, and the same command attaches to them.`,
    );
    const ends = await Promise.all(open.map((place) => follow(io, link, place.run, viewOf(place), place.store.folder)));
    view.end();
    return ends.includes('detached') ? 'detached' : 'ended';
  });
}

function together(parts: readonly CollectionProgress[]): CollectionProgress {
  const counts = noCounts();
  for (const part of parts) addCounts(counts, part.counts);
  const sum = (key: 'total' | 'done' | 'inFlight' | 'maxConcurrent') => parts.reduce((all, part) => all + part[key], 0);
  const [first] = parts;
  return {
    ...first!,
    ...{ run: '', counts, total: sum('total'), done: sum('done'), inFlight: sum('inFlight') },
    ...{ maxConcurrent: sum('maxConcurrent'), startedAt: Math.min(...parts.map(({ startedAt }) => startedAt)) },
    state: parts.find(({ state }) => state !== 'ended')?.state ?? 'ended',
  };
}

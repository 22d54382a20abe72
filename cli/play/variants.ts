// Several runs of one data set in one command: a run for each --model, and for each value of --vary. They play side by
// side under one limit, are followed one after the other, and end in one table.

import { aroundOf } from '../find/place.ts';
import { withLink } from '../../local/service/link.ts';
import { flagOf } from '../../domain/errors/unusable.ts';
import { optionNamed } from '../../run/config.ts';
import { mustBeRunName, type PreparedRun } from '../../run/prepare-run.ts';
import { FIELDS } from '../../run/options.ts';
import { type Answer, unusable } from '../command.ts';
import { EXIT, type ExitCode, exitCodeOfResult } from '../exit.ts';
import { runArgument } from '../../library/command-line.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { type CostOf, tableOfRuns } from '../../library/compare-runs.ts';
import { runsAnswer } from '../view/comparison-text.ts';
import { type Io, say, typable } from '../io.ts';
import { resolveRunFlags, type RunFlags } from '../run-flags.ts';
import { openProgressView } from '../view/progress-view.ts';
import { causeOf } from './ending.ts';
import { follow } from './follow.ts';
import { dryRun } from './dry-run.ts';
import { type PlayOptions, playPrepared, prepare, STAYS } from './play-run.ts';
import { isOnDisk } from '../../records/place.ts';

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

export async function playVariants(
  io: Io,
  given: Omit<PlayOptions, 'resolved' | 'viewer'> & RunFlags,
  variants: readonly Variant[],
  costOf: CostOf,
): Promise<Answer | ExitCode | void> {
  const resolved = variants.map(({ flags }) => resolveRunFlags({ ...given, ...flags }, io));
  if (resolved.some(({ options }) => options.train))
    throw unusable('A trainer lives on one run.', 'Give --train with one model, and without --vary.');
  if (given.name !== undefined) mustBeRunName(given.name);
  const labels = variants.map(({ label }) => label);
  const slugs = slugsOf(labels, MOST_OF_NAME - (given.name?.length ?? 0) - 1);
  const runs: PreparedRun[] = [];
  for (const [i, one] of resolved.entries()) {
    const maxConcurrent = Math.max(1, Math.floor(one.options.maxConcurrent / variants.length));
    const name = given.name && `${given.name}-${slugs[i]!}`;
    say(io, `${i === 0 ? '' : '\n'}${labels[i]!}`);
    runs.push(await prepare(io, { ...given, name, resolved: { ...one, options: { ...one.options, maxConcurrent } } }));
  }
  // None begins before each model has answered.
  for (const prepared of runs) {
    if (given.dryRun) say(io, (await dryRun(io, prepared)).text);
    else await playPrepared(io, prepared, { ...given, detach: true });
  }
  if (given.dryRun || given.detach) return;
  const places = runs.map(({ place }) => place);
  if ((await followed(io, places, given.json)) === 'detached') return EXIT.detached;
  const { maxFailed } = resolved[0]!.options;
  const ends = await Promise.all(places.map((place) => endOf(place, maxFailed)));
  const table = runsAnswer(io, await tableOfRuns(places, { labels, costOf, includeSteered: false }));
  const causes = ends.flatMap(({ cause }, i) => (cause === undefined ? [] : `everturn: ${labels[i]!}: ${cause}`));
  const names = places.map((place) => runArgument(io, place)).join(' ');
  // The viewer shows runs in folders.
  const viewer = isOnDisk(places[0]!.out) ? typable(io, `\n\nViewer     everturn view ${names}\n`) : '';
  return {
    ...{ ...table, text: `${table.text}${viewer}`, notes: [...(table.notes ?? []), ...causes] },
    code: ends.find(({ code }) => code !== EXIT.ok)?.code ?? EXIT.ok,
  };
}

/** Follows one after the other: those behind it are played meanwhile. */
function followed(io: Io, places: readonly RunPlace[], json: boolean): Promise<'detached' | 'ended'> {
  return withLink(aroundOf(io), async (link) => {
    for (const place of places) {
      if (await knownResult(place)) continue;
      say(io, `Following  ${place.run}. ${STAYS}`);
      const end = await follow(io, link, place.run, openProgressView(io, json), place.store.folder);
      if (end === 'detached') return end;
    }
    return 'ended';
  });
}

async function endOf(place: RunPlace, maxFailed: number) {
  const result = await knownResult(place);
  const code = result ? exitCodeOfResult(result, maxFailed) : EXIT.failed;
  return { code, cause: result && code !== EXIT.ok ? await causeOf({ place, result, maxFailed }) : undefined };
}

/** Parts of names of runs, distinct, of at most so many characters: the words of each label, or its number before them. */
export function slugsOf(labels: readonly string[], most: number): readonly string[] {
  const cut = (text: string) => text.slice(0, Math.max(2, Math.min(60, most))).replace(/[._-]+$/, '');
  const words = labels.map((label) => (label.match(/[a-z\d]+(?:[._-][a-z\d]+)*/gi) ?? []).join('-'));
  const slugs = words.map(cut);
  const areDistinct = new Set(slugs).size === slugs.length && !slugs.includes('');
  return areDistinct ? slugs : words.map((text, i) => cut(`${i + 1}-${text}`));
}

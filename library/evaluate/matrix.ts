// The cells of an evaluation: each benchmark with each model and each value that is varied. Pure.

import { unusable } from '../../domain/errors/unusable.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { FIELDS, type RunOptions } from '../../run/options.ts';

/** One option and its values, each with its name in a label. */
type Axis = readonly (readonly [key: keyof RunOptions, value: unknown, label: string, whole?: string])[];

/** What is varied: by option name, its values. */
export type Varied = readonly (readonly [key: keyof RunOptions, values: readonly unknown[]])[];

export interface Variant {
  /** What tells it from the others: `gpt-x, temperature=0`. */
  readonly label: string;
  /** The same with models in full: no other variant has it, whatever stands beside it. */
  readonly whole: string;
  /** By option name. */
  readonly given: Readonly<Record<string, unknown>>;
}

const MOST = 200;

/** Throws a UsageError. */
export function variantsOf(models: readonly string[], varied: Varied): Variant[] {
  const axes: Axis[] = [
    modelAxis(models),
    ...varied.map(([key, values]): Axis =>
      values.map((value) => [key, 'many' in FIELDS[key] ? [value] : value, `${key}=${shown(value)}`]),
    ),
  ].filter((axis) => axis.length > 0);
  const twice = axes.map(([first]) => first![0]).find((key, i, all) => all.indexOf(key) < i);
  if (twice !== undefined) throw unusable(`\`${twice}\` is varied twice.`, 'Give all of its values together.');
  const all = axes.reduce<Axis[]>((sets, axis) => sets.flatMap((set) => axis.map((one) => [...set, one])), [[]]);
  return all.map((set) => ({
    label: set.map(([, , label]) => label).join(', '),
    whole: set.map(([, , label, whole = label]) => whole).join(', '),
    given: Object.fromEntries(set.map(([key, value]) => [key, value])),
  }));
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** By the part behind `#`. */
function modelAxis(models: readonly string[]): Axis {
  if (new Set(models).size < models.length) throw unusable('A model is given twice.', 'Name each once.');
  return models.map((model) => ['model', model, model.slice(model.indexOf('#') + 1), model]);
}

/**
 * A short name for each of `wholes`: the known one, else `shortOf`, or `otherwise` where another has that name already. So
 * what is added later changes no name.
 */
export function stableNames(
  wholes: readonly string[],
  known: ReadonlyMap<string, string>,
  shortOf: (whole: string, place: number) => string,
  otherwise: (whole: string, short: string) => string,
): readonly string[] {
  const taken = new Set(known.values());
  return wholes.map((whole, place) => {
    const there = known.get(whole);
    if (there !== undefined) return there;
    const short = shortOf(whole, place);
    const name = short === '' || taken.has(short) ? otherwise(whole, short) : short;
    taken.add(name);
    return name;
  });
}

/** Throws a UsageError for more runs than a table can hold. */
export function mustBeFew(cells: number): void {
  if (cells > MOST) throw unusable(`These are ${cells} runs.`, `Ask for at most ${MOST} in one evaluation.`);
}

/** A part of a name of a run, of at most so many characters: the words of a text; empty if it has none. */
export const slugOf = (text: string, most: number): string =>
  cut((text.match(/[a-z\d]+(?:[._-][a-z\d]+)*/gi) ?? []).join('-'), most);

/** The same, told from another of its words by its content. */
export const ownSlug = (whole: string, slug: string, most: number): string => {
  const own = sha256Hex(whole).slice(0, OWN_CHARS);
  return slug === '' ? own : `${cut(slug, most - OWN_CHARS - 1)}-${own}`;
};

const OWN_CHARS = 4;
const cut = (text: string, most: number): string =>
  text.slice(0, Math.max(2, Math.min(60, most))).replace(/[._-]+$/, '');

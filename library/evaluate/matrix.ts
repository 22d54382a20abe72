// The cells of an evaluation: each benchmark with each model and each value that is varied. Pure.

import { unusable } from '../../domain/errors/unusable.ts';
import { FIELDS, type RunOptions } from '../../run/options.ts';

/** One option and its values, each with its name in a label. */
type Axis = readonly (readonly [key: keyof RunOptions, value: unknown, label: string])[];

/** What is varied: by option name, its values. */
export type Varied = readonly (readonly [key: keyof RunOptions, values: readonly unknown[]])[];

export interface Variant {
  /** What tells it from the others: `gpt-x, temperature=0`. */
  readonly label: string;
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
    given: Object.fromEntries(set.map(([key, value]) => [key, value])),
  }));
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** By the part behind `#`, if that tells them apart. */
function modelAxis(models: readonly string[]): Axis {
  const short = models.map((model) => model.slice(model.indexOf('#') + 1));
  const names = new Set(short).size === models.length ? short : models;
  if (new Set(models).size < models.length) throw unusable('A model is given twice.', 'Name each once.');
  return models.map((model, i) => ['model', model, names[i]!]);
}

/** Throws a UsageError for more runs than a table can hold. */
export function mustBeFew(cells: number): void {
  if (cells > MOST) throw unusable(`These are ${cells} runs.`, `Ask for at most ${MOST} in one evaluation.`);
}

/** Parts of names of runs, distinct, of at most so many characters: the words of each label, or its number before them. */
export function slugsOf(labels: readonly string[], most: number): readonly string[] {
  const cut = (text: string) => text.slice(0, Math.max(2, Math.min(60, most))).replace(/[._-]+$/, '');
  const words = labels.map((label) => (label.match(/[a-z\d]+(?:[._-][a-z\d]+)*/gi) ?? []).join('-'));
  const slugs = words.map(cut);
  const areDistinct = new Set(slugs).size === slugs.length && !slugs.includes('');
  return areDistinct ? slugs : words.map((text, i) => cut(`${i + 1}-${text}`));
}

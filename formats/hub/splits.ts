// The splits of a data set on the hub, by configuration: as `configs` in the header of its README names their files, else as
// the names of its files tell, by the rules of Python's `datasets`. Pure.

import { parse } from 'yaml';
import { DatasetError } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { datasetExtension } from '../datasets/index.ts';

export interface Split {
  readonly config: string;
  readonly split: string;
  /** In the order of their names. */
  readonly files: readonly string[];
  /** Its configuration is the one to take where none is named. */
  readonly isDefault: boolean;
}

const STANDARD = 'default';

export function splitsOf(names: readonly string[], readme: string | undefined): readonly Split[] {
  const files = names.filter(isDataFile).toSorted();
  const configs = configsOf(readme);
  if (configs.length === 0) return splitsByName(files);
  return configs.flatMap((config) => {
    const { config_name: name, data_files: patterns, data_dir: folder = '' } = config;
    const shared = { config: String(name ?? STANDARD), isDefault: config['default'] === true || name === STANDARD };
    const inside = `${String(folder).replace(/^\.?\/|\/$/g, '')}/`.replace(/^\//, '');
    if (patterns === undefined) {
      const named = splitsByName(files.filter((file) => file.startsWith(inside)));
      return named.map((split) => ({ ...split, ...shared }));
    }
    return patternsOf(patterns).flatMap(([split, globs]) => {
      const found = ofOneFormat(files.filter((file) => globs.some((glob) => matches(`${inside}${glob}`, file))));
      return found.length > 0 ? [{ ...shared, split, files: found }] : [];
    });
  });
}

/** Notes of tools beside the data are none. */
const isDataFile = (name: string): boolean =>
  datasetExtension(name) !== undefined &&
  !/(?:^|\/)(?:[._][^/]*|dataset_infos?\.json|dataset_dict\.json|state\.json|config\.json)(?:\/|$)/.test(name);

function configsOf(readme = ''): readonly Readonly<Record<string, unknown>>[] {
  const header = /^---\r?\n([^]*?)\n---/.exec(readme)?.[1];
  try {
    const value: unknown = header === undefined ? undefined : parse(header);
    const configs = isObject(value) ? value['configs'] : undefined;
    return Array.isArray(configs) ? configs.filter(isObject) : [];
  } catch {
    return [];
  }
}

/** A text or a list of texts is the split `train`. */
function patternsOf(patterns: unknown): readonly (readonly [split: string, globs: readonly string[]])[] {
  const list = [patterns].flat();
  const plain = list.filter((one) => typeof one === 'string');
  if (plain.length > 0) return [['train', plain]];
  return list.filter(isObject).map(({ split, path }) => [String(split ?? 'train'), [path].flat().map(String)]);
}

/** Not by a regular expression: a hostile header could make one take for ever. */
function matches(glob: string, name: string): boolean {
  let reached = new Set([0]);
  for (const [sign] of glob.matchAll(/\*\*\/|\*\*|[^]/g)) {
    const next = new Set<number>();
    for (const from of reached) {
      if (sign.startsWith('*')) {
        for (let to = from; to <= name.length; to++) {
          if (sign !== '**/' || to === from || name[to - 1] === '/') next.add(to);
          if (sign === '*' && name[to] === '/') break;
        }
      } else if (name[from] === sign || (sign === '?' && from < name.length && name[from] !== '/')) next.add(from + 1);
    }
    reached = next;
  }
  return reached.has(name.length);
}

const WORDS = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'dev', 'val'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};
const WORD = new RegExp(`(?:^|[-._ \\d])(${Object.values(WORDS).flat().join('|')})(?=[-._ \\d]|$)`, 'i');
const splitOfWord = (word = ''): string | undefined =>
  Object.entries(WORDS).find(([, words]) => words.includes(word.toLowerCase()))?.[0];

/** `data/train-00000-of-00001.parquet`, `test.jsonl`, `main/test-….parquet`; `main/test/0000.parquet`, as the hub converts them. */
function splitOfFile(name: string): { readonly config: string; readonly split: string | undefined } {
  const folders = name.split('/');
  const file = folders.pop()!;
  if (folders[0] === 'data') folders.shift();
  let split = /^(\w[\w.]*)-\d{5}-of-\d{5}/.exec(file)?.[1] ?? splitOfWord(WORD.exec(file)?.[1]);
  const inFolder = splitOfWord(folders.at(-1)) ?? (/^\d{4}\.parquet$/.test(file) ? folders.at(-1) : undefined);
  if (split === undefined && inFolder !== undefined) {
    split = inFolder;
    folders.pop();
  }
  return { config: folders.join('/') || STANDARD, split };
}

/** Those of the format that most of them have: the same rows may be there in several. */
function ofOneFormat(files: readonly string[]): readonly string[] {
  const formats = files.map(datasetExtension);
  const sizeOf = (format: string | undefined) => formats.filter((one) => one === format).length;
  const [most] = [...new Set(formats)].toSorted((one, other) => sizeOf(other) - sizeOf(one));
  return files.filter((_, i) => formats[i] === most);
}

function splitsByName(files: readonly string[]): readonly Split[] {
  const placed = ofOneFormat(files).map((file) => ({ file, ...splitOfFile(file) }));
  const telling = new Set(placed.flatMap(({ config, split }) => (split === undefined ? [] : [config])));
  const made = new Map<string, Split & { files: string[] }>();
  for (const { file, config, split } of placed) {
    // A file that names no split is one only where none of its configuration does.
    if (split === undefined && telling.has(config)) continue;
    const one = { config, split: split ?? 'train', files: [], isDefault: false };
    const key = `${config}\n${one.split}`;
    if (!made.has(key)) made.set(key, one);
    made.get(key)!.files.push(file);
  }
  return [...made.values()];
}

const MOST_SHOWN = 40;

/** The split that `wanted` names: a configuration, a split, or both; a configuration may hold slashes. */
export function chooseSplit(splits: readonly Split[], wanted: readonly string[], repo: string, where = ''): Split {
  const name = wanted.join('/');
  const whole = splits.filter(({ config, split }) => name === `${config}/${split}`);
  const ofConfig = splits.filter(({ config }) => name === config);
  const defaults = splits.filter(({ isDefault }) => isDefault);
  const preferred = defaults.length > 0 ? defaults : splits;
  const bySplit = preferred.filter(({ split }) => name === split);
  const found = [whole, ofConfig, name === '' ? preferred : bySplit].find((some) => some.length > 0) ?? [];
  if (found.length === 1) return found[0]!;
  const names = (found.length > 0 ? found : splits).map(({ config, split }) => oneLine(`${config}/${split}`));
  const line = names.find((one) => one.endsWith('/test')) ?? names[0];
  const what = found.length > 0 ? 'has several splits' : `has no split ${oneLine(name)}`;
  throw new DatasetError(`hf:${repo} ${splits.length === 0 ? 'has no file of rows' : what}${where}`, {
    reason: 'hub-place',
    fix: line
      ? `Name one, as in hf:${repo}/${line}; there are: ${names.slice(0, MOST_SHOWN).join(', ')}${names.length > MOST_SHOWN ? ', …' : ''}.`
      : `A script may make its rows: try hf:${repo}@refs/convert/parquet, which the hub converts.`,
  });
}

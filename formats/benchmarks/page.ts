// The page of a benchmark: where its rows are, how they are read and asked, and what is known of it, as YAML. The page of a user
// is of the same form. A page that is wrong is refused with its line, as a row is.

import { dirname, join } from 'node:path';
import { isAlias, isNode, LineCounter, parseDocument } from 'yaml';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { Wording } from '../../domain/query/query.ts';
import { PAGE_RUBRIC } from '../../domain/rollout/rubric.ts';
import { SETTINGS } from '../../domain/rollout/settings.ts';
import {
  BOOLEAN,
  COUNT,
  flawOfWritten,
  listOf,
  mapOf,
  maybe,
  NAME,
  objectOf,
  oneOf,
  PLACE,
  type TypeOf,
} from '../../domain/schema/fields.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import { unreadable } from '../datasets/json-line.ts';
import { badRowText } from '../datasets/row-fault.ts';
import { flawOfTemplate } from '../datasets/render-prompt.ts';
import { askerOf } from '../datasets/wording.ts';
import { isHubPlace, parseHubPlace } from '../hub/place.ts';

const { temperature, topP, topK, minP, maxNewTokens } = SETTINGS;

const PAGE = objectOf({
  title: NAME,
  source: objectOf({
    /** `hf:<org>/<name>`, or a file, relative to the page. */
    dataset: NAME,
    /** A commit; without one the data are those of today. */
    revision: maybe(NAME),
    /** In place of a configuration and a split. */
    file: maybe(NAME),
    config: maybe(NAME),
    split: maybe(NAME),
    licence: maybe(NAME),
  }),
  layout: maybe(
    objectOf({
      /** The name that a field has in the data set, for `id`, `question`, `answer` or another that the prompt prints. */
      fields: maybe(mapOf(NAME)),
      /** A window of days: rows of another day are left out. */
      dates: maybe(objectOf({ field: NAME, from: maybe(NAME), until: maybe(NAME) })),
      /** The seed of the order in which choices are listed; the row counts too. */
      shuffle: maybe(COUNT),
    }),
  ),
  system: maybe(NAME),
  /** Jinja over the fields of a row; `choices` is the list of their texts. */
  prompt: maybe(NAME),
  /** `judge`: the answer is compared with the row's; `choices`: it names one of the row's choices; `tests`: it is a program, and they run;
   *  `rules`: it follows the row's instructions; `rubric`: a model judges it, which the user names. */
  scorer: oneOf('judge', 'choices', 'tests', 'rules', 'rubric'),
  /** `rules`: they may be followed without the first line, the last one, or asterisks. */
  loose: maybe(BOOLEAN),
  rubric: maybe(PAGE_RUBRIC),
  sampling: maybe(
    objectOf({
      temperature: maybe(temperature.of),
      topP: maybe(topP.of),
      topK: maybe(topK.of),
      minP: maybe(minP.of),
      maxNewTokens: maybe(maxNewTokens.of),
    }),
  ),
  /** Rollouts of each problem. */
  repeats: maybe(PLACE),
  size: maybe(PLACE),
  notes: maybe(listOf(NAME)),
  /** Public pages that say what this page says. */
  cites: maybe(listOf(NAME)),
  /** Its revision, its file or split and its prompt are those that `cites` name. */
  verified: maybe(BOOLEAN),
});
export type Page = TypeOf<typeof PAGE>;

const MOST_BYTES = 1 << 20;
const FIX = '`everturn benchmarks gsm8k --json` shows a page that is right.';

/** Throws a DatasetError. */
export function readPage(file: string): Page {
  const { document, refuse, lineOf } = parsePage(file);
  const [broken] = document.errors;
  if (broken) refuse(broken.linePos?.[0].line ?? 1, null, `is no YAML (${short(broken.code, 80)})`);
  let value: unknown;
  const unfolded = problemOf(() => (value = document.toJS()));
  if (unfolded !== undefined) refuse(1, null, `is no YAML (${unfolded})`);
  const flaw = flawOfWritten(PAGE, value);
  if (flaw !== undefined) {
    const [, place = '', said = flaw] = /^(?:it|`([^`]*)`) (.*)$/s.exec(flaw) ?? [];
    const unknown = /^has the unknown field `([^`]*)`/.exec(said)?.[1];
    const path = [...place.split('.').filter(Boolean), ...(unknown === undefined ? [] : [unknown])];
    refuse(lineOf(path), place || null, said);
  }
  const page = value as Page;
  const wrong = wrongIn(page);
  if (wrong) refuse(lineOf(wrong.path), wrong.path.join('.'), wrong.problem);
  return page;
}

function parsePage(file: string) {
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), { lineCounter: lines });
  const refuse = (line: number, field: string | null, problem: string): never => {
    throw new DatasetError(badRowText({ file, line, field, problem, fix: FIX }), { reason: 'bad-page' });
  };
  const lineOf = (path: readonly string[]): number => {
    for (let depth = path.length; depth > 0; depth--) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && !isAlias(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  return { document, refuse, lineOf };
}

/** For what is wrong beside the page's own form. Throws a DatasetError with the line of the field. */
export function refusePage(file: string, path: readonly string[], problem: string): never {
  const { refuse, lineOf } = parsePage(file);
  return refuse(lineOf(path), path.join('.'), problem);
}

function textOf(file: string): string {
  try {
    return readRegular(file, MOST_BYTES);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function wrongIn(page: Page): { readonly path: readonly string[]; readonly problem: string } | undefined {
  const { dataset, revision, file, config, split } = page.source;
  const onHub = isHubPlace(dataset);
  if (!onHub && [revision, file, config, split].some((one) => one !== undefined))
    return { path: ['source', 'dataset'], problem: 'is a file, which has no revision, file, config or split' };
  if (file !== undefined && (config ?? split) !== undefined)
    return { path: ['source', 'file'], problem: 'stands beside a config or a split: keep one of them' };
  if (page.layout?.shuffle !== undefined && page.scorer !== 'choices')
    return { path: ['layout', 'shuffle'], problem: `is for choices, and the scorer is ${page.scorer}` };
  if (page.loose !== undefined && page.scorer !== 'rules')
    return { path: ['loose'], problem: `is for rules, and the scorer is ${page.scorer}` };
  if ((page.rubric !== undefined) !== (page.scorer === 'rubric'))
    return { path: ['scorer'], problem: `is ${page.scorer}, and \`rubric\` is ${page.rubric ? 'there' : 'missing'}` };
  const day = Object.entries(page.layout?.dates ?? {}).find(([name, text]) => name !== 'field' && !isDay(text));
  if (day) return { path: ['layout', 'dates', day[0]], problem: 'takes a day, such as 2025-01-31' };
  const problem = problemOf(() => onHub && parseHubPlace(placeOf(page, '')));
  if (problem !== undefined) return { path: ['source', 'dataset'], problem };
  const ofPrompt = problemOf(() => askerOf(wordingOf(page)));
  const flaw = ofPrompt ?? (page.prompt === undefined ? undefined : flawOfTemplate(page.prompt));
  return flaw === undefined ? undefined : { path: ['prompt'], problem: `is no template: ${flaw}` };
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return short(error instanceof Error ? error.message : String(error), 200);
  }
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Its data set as a user would name it. `pageFile`: files are relative to its folder. */
export function placeOf({ source }: Page, pageFile: string): string {
  const { dataset, revision, file, config, split } = source;
  if (!isHubPlace(dataset)) return join(dirname(pageFile), dataset);
  const wanted = [file, config, split].filter((one) => one !== undefined);
  return [revision === undefined ? dataset : `${dataset}@${revision}`, ...wanted].join('/');
}

export function wordingOf({ system, prompt, layout, scorer, loose }: Page): Wording {
  return {
    ...(layout?.dates && { dates: layout.dates }),
    ...(system !== undefined && { system }),
    ...(prompt !== undefined && { template: prompt }),
    ...(layout?.fields && { fields: layout.fields }),
    ...(loose && { loose }),
    ...(scorer === 'choices' && { choices: layout?.shuffle ?? 'as-written' }),
  };
}

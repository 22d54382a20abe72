// A rubric file: the server and model that judge, the instructions, the choices, and examples. Read strictly: a choice
// that decides nothing, or an example of no choice, is an error that names the field.

import { createHash } from 'node:crypto';
import { ENVIRONMENT_NAME } from '../../../domain/rollout/environment.ts';
import { CHOICES, LABEL, OWN_PROMPT, type PageRubric } from '../../../domain/rollout/rubric.ts';
import { SETTINGS } from '../../../domain/rollout/settings.ts';
import * as f from '../../../domain/schema/fields.ts';
import { EnvironmentError } from '../../../domain/errors/errors.ts';
import { short } from '../../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../../domain/text/json-text.ts';
import { FORBIDDEN, isForbiddenAddress } from '../../../local/machine/forbidden-address.ts';

export const MAX_RUBRIC_BYTES = 1 << 20;
const TEXT = f.storableText(1);
const SERVER: f.Test<string> = [
  (value) => TEXT[0](value) && isServer(value as string),
  'an http or https address without password, query and fragment',
];
const PRICE = f.realNumber(0, 1e6);
const EXAMPLE = f.objectOf({
  ...{ question: f.maybe(TEXT), reference: f.maybe(TEXT), answer: f.TEXT, reason: f.maybe(TEXT), choice: LABEL },
});
const RUBRIC = f.objectOf({
  name: ENVIRONMENT_NAME,
  version: f.maybe(f.eitherOf(f.storableText(1, 100), f.NUMBER)),
  server: SERVER,
  model: f.storableText(1, 300),
  apiKeyEnv: f.maybe(SETTINGS.apiKeyEnv.of),
  instructions: f.maybe(TEXT),
  /** In place of instructions, examples and fences. */
  prompt: f.maybe(OWN_PROMPT),
  choices: CHOICES,
  examples: f.maybe(f.listOf(EXAMPLE, 0, 50)),
  /** The exact judge is asked first, and the model only about what that cannot show equal. */
  exactFirst: f.maybe(f.BOOLEAN),
  /** The field of a row that holds the reference answer; null: none is shown. */
  reference: f.maybe(f.orNull(TEXT)),
  maxTokens: f.maybe(f.wholeNumber(1, 65_536)),
  timeoutSeconds: f.maybe(f.upTo(1200)),
  /** Per million tokens. */
  price: f.maybe(f.objectOf({ prompt: PRICE, completion: PRICE })),
});

/** The first fault of a rubric whose fields are right by themselves. */
function flawBetween(rubric: Rubric): string | undefined {
  const { server, choices, examples, exactFirst, reference, instructions, prompt } = rubric;
  if (instructions === undefined && prompt === undefined) return '`instructions` is missing: it takes a text';
  if (prompt !== undefined && (instructions !== undefined || examples.length > 0))
    return '`prompt` stands beside `instructions` or `examples`: it is all that the judge is told';
  if (isForbiddenAddress(new URL(server).hostname)) return `\`server\` ${FORBIDDEN}`;
  const names = choices.map(({ choice }) => sameChoice(choice));
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  if (twice >= 0) return `\`choices.${twice}.choice\` is there twice`;
  const mute = choices.findIndex(({ verdict, reward }) => verdict === undefined && reward === undefined);
  if (mute >= 0) return `\`choices.${mute}\` has neither a \`verdict\` nor a \`reward\``;
  if (exactFirst && choices.filter(({ verdict }) => verdict === 'right').length !== 1)
    return '`exactFirst` needs exactly one choice with the verdict "right", whose reward an exact answer gets';
  if (exactFirst && reference === null) return '`exactFirst` needs a `reference`, which is null';
  const alien = examples.findIndex(({ choice }) => !names.includes(sameChoice(choice)));
  if (alien >= 0) return `\`examples.${alien}.choice\` is none of the choices`;
  return undefined;
}

const DEFAULTS = { apiKeyEnv: null, examples: [], exactFirst: false, maxTokens: 1024, timeoutSeconds: 120 };

type Written = f.TypeOf<typeof RUBRIC>;
export type Rubric = Written & Required<Pick<Written, keyof typeof DEFAULTS>> & { readonly version: string };

export interface ReadRubric {
  readonly rubric: Rubric;
  /** The hash of the file's text: its fingerprint. */
  readonly sha256: string;
}

/** An example's answer is as a model may write it. */
const trimmed = (field: string, value: unknown): unknown =>
  typeof value === 'string' && field !== 'answer' ? value.trim() : value;

/** `file`: for messages. */
export function readRubric(file: string, content: string): ReadRubric {
  const refuse = (problem: string): never => {
    throw new EnvironmentError(`The rubric ${short(file, 200)} cannot be used: ${problem}.`, {
      reason: 'environment-unloadable',
      fix: 'docs/environments.md, "A model as judge", has a complete one.',
    });
  };
  let value: unknown;
  try {
    value = JSON.parse(JSON.stringify(strictJson(content)), trimmed);
  } catch (error) {
    if (error instanceof DoubtfulJson) return refuse(`it ${error.message}`);
    return refuse(`it is not JSON (${short((error as Error).message, 120)})`);
  }
  if (namesModelAlone(content))
    return refuse(`it names a model and not what to judge by, which only a benchmark that a model judges brings`);
  const flaw = f.flawOfWritten(RUBRIC, value);
  if (flaw !== undefined) return refuse(flaw);
  const { version = '1', ...given } = value as Written;
  const rubric = { ...DEFAULTS, ...given, version: String(version) };
  const between = flawBetween(rubric);
  if (between !== undefined) return refuse(between);
  return { rubric, sha256: createHash('sha256').update(content).digest('hex') };
}

/** The words in which a rubric asks, whole or in part. */
const WORDS = ['instructions', 'prompt', 'choices', 'examples'];

/** A file that names a model alone judges by the rubric of a benchmark's page. */
export function namesModelAlone(content: string): boolean {
  try {
    const value = strictJson(content);
    return f.isObject(value) && 'server' in value && !WORDS.some((word) => word in value);
  } catch {
    return false;
  }
}

export const withPageRubric = (content: string, name: string, { prompt, choices }: PageRubric): string =>
  JSON.stringify({ name, prompt, choices, ...(strictJson(content) as object) });

/** Choices are compared without regard to case and blanks. */
export const sameChoice = (choice: string): string => choice.trim().replace(/\s+/g, ' ').toLowerCase();

function isServer(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password, search, hash } = new URL(address);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

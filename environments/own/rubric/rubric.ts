// A rubric file: the server and model that judge, the instructions, the choices, and examples. Read strictly: a choice
// that decides nothing, or an example of no choice, is an error that names the field.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isEnvironmentName } from '../../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../../domain/errors/errors.ts';
import { short } from '../../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../../domain/text/json-text.ts';
import { FORBIDDEN, isForbiddenAddress } from '../../../local/machine/forbidden-address.ts';

export const MAX_RUBRIC_BYTES = 1 << 20;
const text = z
  .string()
  .trim()
  .min(1)
  .refine((value) => value.isWellFormed() && !value.includes('\u0000'), { message: 'holds NUL or half a character' });
/** The judge writes it behind its mark, alone on a line. */
const label = text.max(100).regex(/^[^\n\r*`:]+$/, 'is one line, without `*`, backticks and colons');
const server = text
  .refine(isServer, { message: 'is no http or https address without password, query and fragment' })
  .refine((url) => !URL.canParse(url) || !isForbiddenAddress(new URL(url).hostname), { message: FORBIDDEN });
const price = z.number().min(0).max(1e6);

const RUBRIC = z
  .strictObject({
    name: z.string().refine(isEnvironmentName, { message: 'is not of a-z, 0-9 and hyphens, at most 64' }),
    version: z.union([text.max(100), z.number().transform(String)]).default('1'),
    server,
    model: text.max(300),
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of an environment variable')
      .nullable()
      .default(null),
    instructions: text,
    choices: z
      .array(
        z
          .strictObject({
            choice: label,
            means: text.optional(),
            verdict: z.enum(['right', 'wrong']).optional(),
            reward: z.number().min(-1e30).max(1e30).optional(),
          })
          .refine(({ verdict, reward }) => verdict !== undefined || reward !== undefined, {
            message: 'has neither a `verdict` nor a `reward`',
          }),
      )
      .min(2)
      .max(100),
    examples: z
      .array(
        z.strictObject({
          question: text.optional(),
          reference: text.optional(),
          answer: z.string(),
          reason: text.optional(),
          choice: label,
        }),
      )
      .max(50)
      .default([]),
    /** The exact judge is asked first, and the model only about what that cannot show equal. */
    exactFirst: z.boolean().default(false),
    /** The field of a row that holds the reference answer; null: none is shown. */
    reference: text.nullable().optional(),
    maxTokens: z.int().min(1).max(65_536).default(1024),
    timeoutSeconds: z.number().gt(0).max(1200).default(120),
    /** Per million tokens. */
    price: z.strictObject({ prompt: price, completion: price }).optional(),
  })
  .superRefine(({ choices, examples, exactFirst, reference }, context) => {
    const names = choices.map(({ choice }) => sameChoice(choice));
    const twice = names.findIndex((name, i) => names.indexOf(name) < i);
    if (twice >= 0) context.addIssue({ code: 'custom', path: ['choices', twice, 'choice'], message: 'is there twice' });
    if (exactFirst && choices.filter(({ verdict }) => verdict === 'right').length !== 1) {
      const message = 'needs exactly one choice with the verdict "right", whose reward an exact answer gets';
      context.addIssue({ code: 'custom', path: ['exactFirst'], message });
    }
    if (exactFirst && reference === null)
      context.addIssue({ code: 'custom', path: ['exactFirst'], message: 'needs a `reference`, which is null' });
    for (const [i, { choice }] of examples.entries()) {
      if (names.includes(sameChoice(choice))) continue;
      const message = `${JSON.stringify(choice)} is none of the choices`;
      context.addIssue({ code: 'custom', path: ['examples', i, 'choice'], message });
    }
  });

export type Rubric = z.infer<typeof RUBRIC>;

export interface ReadRubric {
  readonly rubric: Rubric;
  /** The hash of the file's text: its fingerprint. */
  readonly sha256: string;
}

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
    value = strictJson(content);
  } catch (error) {
    if (error instanceof DoubtfulJson) return refuse(`it ${error.message}`);
    return refuse(`it is not JSON (${short((error as Error).message, 120)})`);
  }
  const parsed = RUBRIC.safeParse(value);
  if (!parsed.success) {
    // A misspelt field explains one that is missing.
    const { issues } = parsed.error;
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
    const path = (issue?.path ?? []).map(String).join('.');
    const place = path === '' ? 'it' : `\`${short(path, 80)}\``;
    return refuse(`${place} ${short(issue ? problemOf(issue) : '', 200)}`);
  }
  return { rubric: parsed.data, sha256: createHash('sha256').update(content).digest('hex') };
}

/** Our own messages continue the field's name; the library's are put so that they do. */
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `has the unknown field \`${issue.keys.join('`, `')}\``;
  if (issue.code === 'invalid_type')
    return issue.message.endsWith(' received undefined')
      ? `is missing: it takes ${kinds(issue.expected)}`
      : `takes ${kinds(issue.expected)}`;
  return /^[a-z"]/.test(issue.message) ? issue.message : `does not fit: ${issue.message}`;
}
const kinds = (expected: string): string =>
  ({
    ...{ string: 'a text', array: 'a list', object: 'an object', number: 'a number', int: 'a whole number' },
    boolean: 'true or false',
  })[expected] ?? expected;

/** Choices are compared without regard to case and blanks. */
export const sameChoice = (choice: string): string => choice.trim().replace(/\s+/g, ' ').toLowerCase();

function isServer(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password, search, hash } = new URL(address);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

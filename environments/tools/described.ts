// Reads what a module or a server says of its tools. Strict: a tool without a name, with an invalid schema, or with an unknown
// effect is a ToolError that names the tool and the field. Schemas and the arguments of calls are hostile: their depth is
// bounded before anything, Ajv included, reads them.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ToolError } from '../../domain/errors/errors.ts';
import {
  ANYTHING,
  flawOfWritten,
  maybe,
  objectOf,
  oneOf,
  storableText,
  type TypeOf,
  upTo,
} from '../../domain/schema/fields.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { JsonObject, Json } from '../../domain/text/json.ts';
import {
  DEFAULT_TOOL_TIMEOUT_SECONDS,
  EFFECTS,
  isToolName,
  MAX_TOOL_TIMEOUT_SECONDS,
  type ToolRecord,
} from '../../domain/tools/tool.ts';

const TOOL = objectOf({
  name: storableText(),
  description: maybe(storableText(0, 8192)),
  parameters: maybe(ANYTHING),
  effect: maybe(oneOf(...EFFECTS)),
  timeoutSeconds: maybe(upTo(MAX_TOOL_TIMEOUT_SECONDS)),
});
const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

type DescribedTool = Omit<ToolRecord, 'door' | 'spec' | 'fingerprint'>;

const CALLABLE = { test: isToolName, flaw: 'is not of letters, digits, _ and -, at most 64' };

/** `who`: the module or the server, for messages. `named`: what a name may be. The default effect is `once`. */
export function describedTool(
  who: string,
  value: unknown,
  place: number,
  timeoutSeconds: number | null,
  named = CALLABLE,
): DescribedTool {
  const fault = flawOfWritten(TOOL, value);
  if (fault !== undefined) throw badTool(who, nameOf(value, place), fault);
  const said = value as TypeOf<typeof TOOL>;
  const { name, description = '', parameters = NO_ARGUMENTS, effect = 'once', timeoutSeconds: own } = said;
  if (!named.test(name)) throw badTool(who, name, `\`name\` ${named.flaw}`);
  const flaw = schemaFlaw(parameters);
  if (flaw !== undefined) throw badTool(who, name, flaw);
  const seconds = own ?? timeoutSeconds ?? DEFAULT_TOOL_TIMEOUT_SECONDS;
  // The form in which run.json holds it.
  const plain = JSON.parse(JSON.stringify(parameters)) as JsonObject;
  // Endpoints take no schema without a type or properties.
  const whole = { ...plain, ...NO_ARGUMENTS, ...plain };
  return { name, description, parameters: whole, effect, timeoutSeconds: seconds };
}

function nameOf(value: unknown, place: number): string {
  const { name } = (typeof value === 'object' && value !== null ? value : {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : `${place + 1}`;
}

export function badTool(who: string, name: string, problem: string): ToolError {
  return new ToolError(`The tool ${short(name, 80)} of ${who} cannot be used: ${problem}.`, {
    reason: 'bad-tool',
    fix: 'docs/tools.md says what a tool declares.',
  });
}

const MAX_DEPTH = 64;
/** Words that a draft does not know are no error, and a `format` is for people. */
const OPTIONS = { strict: false, validateFormats: false, ownProperties: true, logger: false } as const;

/** The fault of a schema for the arguments of a tool, with its place; undefined if there is none. */
export function schemaFlaw(schema: unknown): string | undefined {
  if (!isObject(schema)) return `parameters: ${shown(schema)} is no JSON schema, which is an object`;
  if (isTooDeep(schema)) return `parameters: it is nested deeper than ${MAX_DEPTH} levels`;
  const { type = 'object' } = schema;
  const draft = draftOf(schema);
  try {
    if (draft.validateSchema(plain(schema)) !== true) return flawOf('parameters', schema, draft.errors);
    if (type !== 'object') return `parameters: \`type\` is ${shown(type)}, and arguments are an object`;
    // A schema that holds itself without an end shows it here.
    validatorOf(schema as JsonObject)({});
    return undefined;
  } catch (error) {
    return `parameters: ${short(error instanceof Error ? error.message : String(error), 200)}`;
  }
}

/** The reason why these arguments do not fit; undefined if they do. */
export function argumentsFlaw(schema: JsonObject, given: Json): string | undefined {
  if (isTooDeep(given)) return `the arguments are nested deeper than ${MAX_DEPTH} levels`;
  const validate = validatorOf(schema);
  return validate(given) ? undefined : flawOf('the arguments', given, validate.errors);
}

/** Validators by the schema's text: each rollout has a copy of its tools, and compiling one takes tens of milliseconds. */
const validators = new Map<string, ValidateFunction>();
const MAX_VALIDATORS = 1000;

function validatorOf(schema: JsonObject): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = validators.get(text);
  if (known) return known;
  if (validators.size >= MAX_VALIDATORS) validators.clear();
  const made = draftOf(schema).compile({ type: 'object', ...plain(schema) });
  validators.set(text, made);
  return made;
}

/** MCP takes the draft of 2020 for granted; libraries that write draft 7 say so. Of its own for each schema: `#` is the schema. */
function draftOf({ $schema }: { readonly $schema?: unknown }): Ajv {
  return /draft-0\d/.test(String($schema)) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
}

/** Without its name, and without Ajv's own word for a validator that answers later. */
function plain({ $schema: _draft, $id: _id, $async: _later, ...schema }: Readonly<Record<string, unknown>>): object {
  return schema;
}

/** The first of Ajv's errors, with the value that it is about. `whole`: the name of `value`. */
function flawOf(whole: string, value: unknown, errors: ErrorObject[] | null | undefined): string {
  const { instancePath, message = '', params } = errors![0]!;
  const path = instancePath.split('/').slice(1);
  const names = path.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  let found = value;
  for (const name of names) found = (found as Readonly<Record<string, unknown>>)[name];
  const given = names.length > 0 ? ` \`${short(names.join('.'), 80)}\` is ${shown(found)} and` : '';
  const allowed = Array.isArray(params['allowedValues']) ? `: ${shown(params['allowedValues'])}` : '';
  return `${whole}:${given} ${short(message, 200)}${allowed}`;
}

/** Written with a stack of its own: what is nested deep must not end the worker. */
export function isTooDeep(value: unknown): boolean {
  const open = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= MAX_DEPTH) return true;
    for (const item of Object.values(next.value)) open.push({ value: item as unknown, depth: next.depth + 1 });
  }
  return false;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => short(JSON.stringify(value) ?? String(value), 60);

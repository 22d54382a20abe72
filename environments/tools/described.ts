// Reads what a module or a server says of its tools. Strict: a tool without a name, with an invalid schema, or with an
// unknown effect is a ToolError that names the tool and the field. Nothing of it is trusted.

import { z } from 'zod';
import { ToolError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import {
  DEFAULT_TOOL_TIMEOUT_SECONDS,
  EFFECTS,
  isToolName,
  MAX_TOOL_TIMEOUT_SECONDS,
  type ToolRecord,
} from '../../domain/tools/tool.ts';
import { schemaFlaw } from './schema.ts';

const text = z.string('no text').refine((value) => value.isWellFormed() && !value.includes('\u0000'), {
  message: 'holds NUL or half a character',
});
const TOOL = z.strictObject({
  name: text,
  description: text.max(8192, 'is longer than 8,192 characters').optional(),
  parameters: z.unknown().optional(),
  effect: z.enum(EFFECTS, `is none of ${EFFECTS.join(', ')}`).optional(),
  timeoutSeconds: z
    .number('is no number')
    .gt(0, 'is not above 0')
    .max(MAX_TOOL_TIMEOUT_SECONDS, `is above ${MAX_TOOL_TIMEOUT_SECONDS}`)
    .optional(),
});
const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

export type DescribedTool = Omit<ToolRecord, 'door' | 'spec' | 'fingerprint'>;

const CALLABLE = { test: isToolName, flaw: 'is not of letters, digits, _ and -, at most 64' };

/** `who`: the module or the server, for messages. `named`: what a name may be. The default effect is `once`. */
export function describedTool(
  who: string,
  value: unknown,
  place: number,
  timeoutSeconds: number | null,
  named = CALLABLE,
): DescribedTool {
  const parsed = TOOL.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = (issue?.path ?? []).map(String).join('.');
    throw badTool(
      who,
      nameOf(value, place),
      `${field === '' ? 'it' : `\`${short(field, 40)}\``} ${short(issue?.message ?? '', 200)}`,
    );
  }
  const { name, description = '', parameters = NO_ARGUMENTS, effect = 'once', timeoutSeconds: own } = parsed.data;
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

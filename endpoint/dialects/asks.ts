// The form that a request asks its reply to have, in whichever field of its API, or of SGLang's and vLLM's in any of them.

import { z } from 'zod';
import { type Asks, replyForm, type ReplyForm } from '../../domain/agent/index.ts';
import type { Json } from '../../domain/text/json.ts';
import { RefusedRequest } from './dialect.ts';

const STRINGS = z.array(z.string()).min(1);

/** Fields beside those of the APIs: vLLM's, of now and earlier, and SGLang's. */
const OTHERS = {
  structured_outputs: z
    .looseObject({
      json: z.union([z.string(), z.record(z.string(), z.json())]).nullish(),
      json_object: z.boolean().nullish(),
      regex: z.string().nullish(),
      choice: STRINGS.nullish(),
      grammar: z.string().nullish(),
      structural_tag: z.json().nullish(),
    })
    .nullish(),
  guided_json: z.union([z.string(), z.record(z.string(), z.json())]).nullish(),
  guided_regex: z.string().nullish(),
  guided_choice: STRINGS.nullish(),
  guided_grammar: z.string().nullish(),
  json_schema: z.union([z.string(), z.record(z.string(), z.json())]).nullish(),
  regex: z.string().nullish(),
  ebnf: z.string().nullish(),
  structural_tag: z.json().nullish(),
};
export const FORM_FIELDS = OTHERS;
type Others = z.output<z.ZodObject<typeof OTHERS>>;

/** OpenAI's and Anthropic's: the schema stands in it, or within its `json_schema`. */
export const FORMAT = z.looseObject({
  type: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  strict: z.boolean().nullish(),
  schema: z.record(z.string(), z.json()).nullish(),
  json_schema: z
    .looseObject({
      name: z.string().nullish(),
      description: z.string().nullish(),
      strict: z.boolean().nullish(),
      schema: z.record(z.string(), z.json()).nullish(),
    })
    .nullish(),
});

/** `field`: where the format stands. */
export function formAsked(
  format: z.output<typeof FORMAT> | null | undefined,
  field: string,
  others: Others,
): Asks['form'] {
  const own = format && ofFormat(format, field);
  if (own) return { field, ...own };
  const { structured_outputs: all = {}, ...single } = others;
  const candidates: readonly (readonly [string, ReplyForm['kind'], unknown])[] = [
    ['structured_outputs', 'schema', all?.json],
    ['structured_outputs', 'json', all?.json_object || null],
    ['structured_outputs', 'regex', all?.regex],
    ['structured_outputs', 'choice', all?.choice],
    ['structured_outputs', 'grammar', all?.grammar],
    ['structured_outputs', 'tag', all?.structural_tag],
    ['guided_json', 'schema', single.guided_json],
    ['guided_regex', 'regex', single.guided_regex],
    ['guided_choice', 'choice', single.guided_choice],
    ['guided_grammar', 'grammar', single.guided_grammar],
    ['json_schema', 'schema', single.json_schema],
    ['regex', 'regex', single.regex],
    ['ebnf', 'grammar', single.ebnf],
    ['structural_tag', 'tag', single.structural_tag],
  ];
  const found = candidates.find(([, , value]) => value != null);
  if (!found) return undefined;
  const [at, kind, value] = found;
  return {
    field: at,
    ...replyForm(kind, kind === 'schema' || kind === 'tag' ? parsed(value as Json, at) : (value as Json)),
  };
}

function ofFormat(format: z.output<typeof FORMAT>, field: string): ReplyForm | undefined {
  const { type, json_schema: within } = format;
  if (type === 'text') return undefined;
  if (type === 'json_object') return replyForm('json', {});
  if (type === 'structural_tag') return replyForm('tag', format as Json);
  const { schema, name, description, strict } = within ?? format;
  if (type !== 'json_schema')
    throw new RefusedRequest('unsupported-field', `${field}.type`, `is ${JSON.stringify(type)}: leave it out`);
  if (!within && !schema) throw new RefusedRequest('malformed', field, 'has no schema');
  return replyForm('schema', schema ?? {}, {
    ...(name != null && { name }),
    ...(description != null && { description }),
    ...(strict != null && { strict }),
  });
}

function parsed(value: Json, field: string): Json {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    throw new RefusedRequest('malformed', field, 'is no JSON');
  }
}

const CHOICE = z.looseObject({
  type: z.string(),
  name: z.string().nullish(),
  function: z.looseObject({ name: z.string() }).nullish(),
  mode: z.string().nullish(),
  allowed_tools: z.looseObject({ mode: z.string().nullish() }).nullish(),
});
export const TOOL_CHOICE = z.union([z.string(), CHOICE]).nullish();

/** The tool that a choice of any API forces; true: any; undefined: none. */
export function callAsked(choice: z.output<typeof TOOL_CHOICE>): Asks['call'] {
  const said = typeof choice === 'string' ? { type: choice } : (choice ?? { type: 'auto' });
  const { type, name, function: called, mode, allowed_tools: allowed } = said as z.output<typeof CHOICE>;
  if (type === 'auto' || type === 'none') return undefined;
  if (type === 'allowed_tools') return (mode ?? allowed?.mode) === 'required' ? true : undefined;
  // A hosted tool is none that could be called.
  return called?.name ?? name ?? (type === 'required' || type === 'any' ? true : type);
}

/** The part of a request. */
export function asksOf(form: Asks['form'], call: Asks['call']): { readonly asks?: Asks } {
  return form || call !== undefined ? { asks: { ...(form && { form }), ...(call !== undefined && { call }) } } : {};
}

// The fields of a request that change nothing here, so that the record of its call names them: all that no dialect reads, known
// to its API or not. Left out of the list: fields that are not about the reply, and those with the value that they have if unset.

import type { z } from 'zod';
import { isObject } from '../../domain/schema/fields.ts';
import { short } from '../../domain/text/foreign-text.ts';

/** About the request, its price, its place or its cache. The model is recorded by its own name. */
const NOT_OF_THE_REPLY: ReadonlySet<string> = new Set([
  ...['model', 'metadata', 'client_metadata', 'user', 'safety_identifier', 'store', 'stream_options', 'include'],
  ...['service_tier', 'speed', 'inference_geo', 'prediction', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['prompt_cache_options', 'cache_control', 'betas'],
]);

const USUAL: Readonly<Record<string, unknown>> = {
  ...{ n: 1, logprobs: false, top_logprobs: 0, parallel_tool_calls: true, disable_parallel_tool_use: false },
  ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, verbosity: 'medium', truncation: 'disabled' },
  ...{ strict: false, add_generation_prompt: true, continue_final_message: false },
};

const MOST_NAMES = 20;

/** `inside`: of a field that is an object, the fields that are read. */
export function flagLeftOut(
  asked: object,
  { shape }: z.ZodObject,
  inside: Readonly<Record<string, readonly string[]>> = {},
): string[] {
  const names = Object.entries(asked).flatMap(([name, value]) => {
    const read = inside[name];
    if (!read) return Object.hasOwn(shape, name) ? [] : named(name, value);
    return isObject(value)
      ? Object.entries(value).flatMap(([key, one]) => (read.includes(key) ? [] : named(key, one, `${name}.`)))
      : [];
  });
  names.push(...withinLists(asked as Lists));
  if (names.length === 0) return [];
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return [`Left out: ${names.slice(0, MOST_NAMES).join(', ')}${more}.`];
}

interface Lists {
  readonly tools?: readonly { readonly strict?: unknown; readonly function?: { readonly strict?: unknown } }[] | null;
  readonly messages?: readonly { readonly role?: unknown; readonly name?: unknown }[];
}

/** Arguments that a server would hold to their schema, and names of speakers: a result is known by its call. */
const withinLists = ({ tools, messages }: Lists): string[] => [
  ...(tools?.some((tool) => (tool.function ?? tool).strict === true) ? ['tools.strict'] : []),
  ...(messages?.some(({ role, name }) => role !== 'tool' && name != null) ? ['messages.name'] : []),
];

function named(name: string, value: unknown, before = ''): string[] {
  const isUnset =
    value == null ||
    value === '' ||
    value === USUAL[name] ||
    (typeof value === 'object' && Object.keys(value).length === 0);
  return isUnset || NOT_OF_THE_REPLY.has(name) ? [] : [before + short(name, 40)];
}

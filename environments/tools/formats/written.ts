// Calls whose arguments are pairs of tags around plain text, as Qwen3-Coder and GLM write them. A value may hold the
// closing tag: the value ends at the first one behind which only a tag follows that can follow a value.

import type { Json } from '../../../domain/text/json.ts';
import { skipSpace } from './json.ts';
import type { ToolSchema } from './reply.ts';
import type { Find } from './scan.ts';
import { argumentSchemas, typeText } from './typed.ts';

export interface WrittenArgument {
  readonly name: string;
  readonly text: string;
}

export type Value =
  { readonly ok: true; readonly text: string; readonly end: number } | { readonly ok: false; readonly error: string };

export interface Tags {
  readonly close: string;
  /** Opens the next argument. */
  readonly next: string;
  /** Closes the call. */
  readonly last: string;
}

export type ValueReader = (from: number) => Value;

/** Reads the value that begins at `from`; `end` is behind its closing tag and the white space there. */
export function valueReader(text: string, { close, next, last }: Tags, find: Find): ValueReader {
  const followed = (at: number) => [next, last].some((tag) => text.startsWith(tag, skipSpace(text, at + close.length)));
  // Whether a closing tag ends a value does not depend on where the value begins: each is looked at once.
  let known = { from: 0, at: -2 };
  function ending(from: number): number {
    if (known.at !== -2 && from >= known.from && (known.at < 0 || from <= known.at)) return known.at;
    let at = find(close, from);
    while (at >= 0 && !followed(at)) at = find(close, at + 1);
    known = { from, at };
    return at;
  }
  return (from) => {
    const [first, opens, at] = [find(close, from), find(next, from), ending(from)];
    if (first < 0) return { ok: false, error: `${close} is missing` };
    // Either a closing tag is missing or the value holds the tag: one cannot be told from the other.
    if (opens >= 0 && opens < first) return { ok: false, error: `${close} is missing before ${next}` };
    if (at < 0 || (opens >= 0 && opens < at)) {
      return { ok: false, error: `neither ${next} nor ${last} follows ${close}` };
    }
    return { ok: true, text: text.slice(from, at), end: skipSpace(text, at + close.length) };
  };
}

/** The arguments typed by the tool's schema, or a sentence. */
export function typedArguments(
  written: readonly WrittenArgument[],
  tool: string,
  tools: readonly ToolSchema[],
): { readonly [name: string]: Json } | string {
  const typesOf = argumentSchemas(tools, tool);
  const values = new Map<string, Json>();
  for (const { name, text } of written) {
    if (values.has(name)) return `the argument ${JSON.stringify(name)} stands twice`;
    const value = typeText(text, name, typesOf(name));
    if (!value.ok) return value.error;
    values.set(name, value.value);
  }
  // Own properties also for a name such as __proto__.
  return Object.fromEntries(values);
}

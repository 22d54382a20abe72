// A model's chat template, rendered by Hugging Face's own Jinja for JavaScript with the variables that Python's
// `apply_chat_template` gives it: the messages, the tools, the special tokens, the run's own, and the wish for an answer. transformers.js
// does the same, but loads an ONNX runtime with it, which a worker of inference servers has no use for.

import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '../../domain/query/query.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { strftime } from './strftime.ts';

interface ChatTemplate {
  /** Null if the model has none. Of several: the one for these tools. Throws if none of them is for every conversation. */
  text(tools?: readonly object[]): string | null;
  /** Throws where the template refuses the messages. */
  render(messages: readonly ChatMessage[], tools?: readonly object[], variables?: JsonObject): string;
}

type Config = Readonly<Record<string, unknown>>;

const SPECIAL_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** The library's own `strftime_now` knows eight formats, and no variable of a template may take its name: a statement may. */
const DATES = new Template('{% set strftime_now = everturn_strftime %}').parsed.body;

function dated(source: string): Template {
  const template = new Template(source);
  template.parsed.body.unshift(...DATES);
  return template;
}

/** `config`: tokenizer_config.json with its tokens as texts. `file`: chat_template.jinja, which precedes it as in Python. */
export function chatTemplateOf(config: Config, file: string | null): ChatTemplate {
  const given = file ?? config['chat_template'] ?? null;
  const named = typeof given === 'object' && given !== null ? byName(given) : undefined;
  const special = Object.fromEntries(
    SPECIAL_TOKENS.map((name) => [name, config[name]] as const).filter(([, token]) => token),
  );
  const compiled = new Map<string, Template>();

  function text(tools?: readonly object[]): string | null {
    if (!named) return typeof given === 'string' && given !== '' ? given : null;
    const found = (tools && named.get('tool_use')) ?? named.get('default');
    if (found !== undefined) return found;
    throw new Error(`it has several chat templates (${[...named.keys()].sort().join(', ')}), and none is "default"`);
  }

  return {
    text,
    render(messages, tools, variables) {
      const source = text(tools);
      if (source === null) throw new Error('there is no chat template');
      const template = compiled.get(source) ?? dated(source);
      compiled.set(source, template);
      return template.render({
        documents: null,
        ...special,
        ...variables,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: true,
        tools: tools?.map((tool) => ({ ...tool })) ?? null,
        everturn_strftime: (format: string) => strftime(new Date(), format),
      });
    },
  };
}

/** A list of names with templates, as in the files, or an object of them. */
function byName(given: object): ReadonlyMap<string, string> {
  const pairs: [unknown, unknown][] = Array.isArray(given)
    ? given.map((one: { readonly name?: unknown; readonly template?: unknown }) => [one.name, one.template])
    : Object.entries(given);
  const isText = (pair: [unknown, unknown]): pair is [string, string] => pair.every((one) => typeof one === 'string');
  if (pairs.every(isText)) return new Map(pairs);
  throw new Error('several chat templates are a list of objects with `name` and `template`, both texts');
}

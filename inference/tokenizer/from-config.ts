// Settings that exist only in tokenizer_config.json, put into tokenizer.json as Python's transformers does when
// it loads a tokenizer: whether a BOS and an EOS surround a text (Llama, Code Llama, Gemma and Cohere folders), and no
// truncation or padding, which belong to training. Pure.
// Not covered: tokens that are only in `added_tokens_decoder`; current exporters write them to both files.

export interface TokenizerJson {
  readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special?: boolean }[];
  readonly model?: { readonly vocab?: unknown };
  readonly [field: string]: unknown;
}

interface Config {
  readonly tokenizer_class?: unknown;
  readonly add_bos_token?: unknown;
  readonly add_eos_token?: unknown;
  readonly bos_token?: unknown;
  readonly eos_token?: unknown;
}

/** Classes whose Python code rebuilds the post-processor from `add_bos_token` (default true) and `add_eos_token`. */
const SURROUNDED = /^(?:Llama|CodeLlama|Gemma|Cohere)Tokenizer(?:Fast)?$/;

export function completeTokenizer(json: TokenizerJson, config: Config): TokenizerJson {
  const plain = { ...json, truncation: null, padding: null };
  if (!SURROUNDED.test(String(config.tokenizer_class))) return plain;
  const bos = config.add_bos_token === false ? undefined : special(config.bos_token, json);
  const eos = config.add_eos_token === true ? special(config.eos_token, json) : undefined;
  return { ...plain, post_processor: surroundedBy(bos, eos) };
}

/** The configuration with each special token (`eos_token`, …) as its text; some folders have an object there. */
export function plainTokens(config: object): Readonly<Record<string, unknown>> {
  const textOf = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'content' in value ? value.content : value;
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, name.endsWith('_token') ? textOf(value) : value]),
  );
}

interface Special {
  readonly content: string;
  readonly id: number;
}

function special(content: unknown, json: TokenizerJson): Special | undefined {
  if (typeof content !== 'string') return undefined;
  const vocab = (json.model?.vocab ?? {}) as Readonly<Record<string, number>>;
  const id = json.added_tokens?.find((added) => added.content === content)?.id ?? vocab[content];
  return id === undefined ? undefined : { content, id };
}

/** Rust's TemplateProcessing: `bos A eos`, and `bos A eos bos B eos` for pairs. */
function surroundedBy(bos: Special | undefined, eos: Special | undefined): object {
  const around = (sequence: 'A' | 'B', type: number): object[] => [
    ...(bos ? [{ SpecialToken: { id: bos.content, type_id: type } }] : []),
    { Sequence: { id: sequence, type_id: type } },
    ...(eos ? [{ SpecialToken: { id: eos.content, type_id: type } }] : []),
  ];
  const tokens = [bos, eos].filter((token) => token !== undefined);
  return {
    type: 'TemplateProcessing',
    single: around('A', 0),
    pair: [...around('A', 0), ...around('B', 1)],
    special_tokens: Object.fromEntries(
      tokens.map(({ content, id }) => [content, { id: content, ids: [id], tokens: [content] }]),
    ),
  };
}

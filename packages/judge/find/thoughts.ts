// The marks between which models think, and what a text says behind its thoughts. domain/text/thoughts.ts has the same table for prompts,
// because workflows load it and no judge; a test holds the two equal. Linear.

/** Opening and closing. A closing mark alone ends a thought that the prompt has opened. */
export const THOUGHT_MARKS: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'], // Mistral
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'], // MiniMax
  ['<longcat_think>', '</longcat_think>'],
  ['◁think▷', '◁/think▷'], // Kimi
  ['<|begin_of_thought|>', '<|end_of_thought|>'], // Sky-T1
  ['<|START_THINKING|>', '<|END_THINKING|>'], // Cohere
  ['<|inner_prefix|>', '<|inner_suffix|>'], // Apertus
  ['<|think:start|>', '<|think:end|>'], // Solar
  ['<|channel>thought', '<channel|>'], // Gemma
  ['<unused94>thought', '<unused95>'], // MedGemma
  ['[unused16]', '[unused17]'], // Pangu
];

/** Messages of a turn, of which one is the answer: the mark of a thought, and that of the answer. `<|end|>` ends either. */
const CHANNELS: readonly (readonly [thought: string, answer: string])[] = [
  ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>'], // gpt-oss
  ['<|think|>', '<|content|>'], // Solar
];
/** Granite, and gpt-oss without its special tokens. */
const IN_WORDS =
  /^\s*(?:Here(?: is|'s) my thought process:[^]*?Here(?: is|'s) my response:|analysis[^]*assistantfinal)/;
const OPENED_IN_WORDS = /^\s*Here(?: is|'s) my thought process:/;
const CHANNEL_HEADER = /<\|start\|>assistant|<\|channel\|>\w+(?: to=\w+)?<\|message\|>/g;

const anyOf = (marks: readonly string[]): string =>
  marks.map((mark) => mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
const OPEN = anyOf(THOUGHT_MARKS.map(([open]) => open));
const OPENS = new RegExp(OPEN, 'i');
const BEGINS = new RegExp(`^\\s*(?:${OPEN})`, 'i');
const CLOSES = new RegExp(anyOf(THOUGHT_MARKS.map(([, close]) => close)), 'gi');

interface TextBehindThoughts {
  /** The text behind the last thought. */
  readonly text: string;
  /** A thought was opened and not closed. */
  readonly isOpen: boolean;
}

/** The message that is the answer; of a text without such messages all of it. */
export function answerMessage(source: string): TextBehindThoughts {
  const inWords = IN_WORDS.exec(source)?.[0] ?? '';
  if (inWords !== '') return { text: source.slice(inWords.length), isOpen: false };
  const used = CHANNELS.find(([thought, answer]) => source.includes(thought) || source.includes(answer));
  if (!used) return { text: source, isOpen: OPENED_IN_WORDS.test(source) };
  const [thought, answer] = used;
  const [thoughtAt, answerAt] = [source.lastIndexOf(thought), source.lastIndexOf(answer)];
  if (answerAt > thoughtAt) return { text: source.slice(answerAt + answer.length), isOpen: false };
  const end = source.indexOf('<|end|>', thoughtAt);
  if (end < 0) return { text: '', isOpen: true };
  return { text: source.slice(end + '<|end|>'.length).replace(CHANNEL_HEADER, ''), isOpen: false };
}

/** `anywhere`: an opening mark counts in mid-text too, where it may be quoted. */
export function behindThoughts(source: string, anywhere = false): TextBehindThoughts {
  const closed = [...source.matchAll(CLOSES)].at(-1);
  const text = closed ? source.slice(closed.index + closed[0].length) : source;
  return { text, isOpen: (anywhere ? OPENS : BEGINS).test(text) };
}

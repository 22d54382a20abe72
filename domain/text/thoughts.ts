// The marks between which models think, for prompts and calls of tools. What a text says behind its thoughts is the judge's to read
// (packages/judge), which has the same table; a test holds them equal. Linear.

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

/** The text as a regular expression that matches it alone. */
export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const anyOf = (marks: readonly string[]): string => marks.map(escapeRegExp).join('|');
const CLOSES = new RegExp(anyOf(THOUGHT_MARKS.map(([, close]) => close)), 'i');
const ENDS = new RegExp(`(?:${anyOf(THOUGHT_MARKS.map(([open]) => open))})\\s*$`, 'i');

/** The opening mark of a thought that the generation prompt has opened and the reply, with its special tokens, never ends. */
export const unendedThought = (prompt: string, reply: string): string =>
  CLOSES.test(reply) ? '' : openedThought(prompt);

/** The opening mark if the generation prompt ends inside the model's thinking: it belongs before the answer's text. */
export function openedThought(prompt: string): string {
  const tail = ENDS.exec(prompt.slice(-100))?.[0].trim().toLowerCase();
  return THOUGHT_MARKS.find(([open]) => open.toLowerCase() === tail)?.[0] ?? '';
}

// The facts that follow from a turn's record: its lengths, whether its answer is whole, and the turns before it. Pure.

import { unendedThought } from '../text/thoughts.ts';
import type { Finish, TurnRecord } from './turn.ts';
import type { VerdictValue } from './verdict.ts';
import { escapeMarkdown, type MarkdownColumn, markdownTable } from '../text/foreign-text.ts';

/** The small facts of a turn that a workflow carries. */
export interface TurnFacts {
  readonly turn: number;
  /** Null: unknown, because the server gave text without tokens. */
  readonly outputTokens: number | null;
  /** Null: unknown, because the server was sent messages, and counted none. */
  readonly contextTokens: number | null;
  readonly finish: Finish;
  readonly versionStart: number;
  readonly versionEnd: number;
  readonly verdict: VerdictValue;
  readonly reason: string;
  /** The environment's own reward, if it gives one. */
  readonly reward?: number;
  /** A person's message is in its context. */
  readonly said?: true;
}

export function noEos(finish: Finish): boolean {
  return finish === 'length' || finish === 'abort';
}

/** Whether the answer breaks off. Of one that was withheld as a whole, no part is missing. */
export function isCut({ answer, finish }: Pick<TurnRecord, 'answer' | 'finish'>): boolean {
  return finish === 'length' || (finish === 'abort' && answer !== '');
}

/** The answer as environments get it: one that a limit has cut within a thought of its prompt's says so by the thought's mark. */
export function answerToJudge(
  record: Pick<TurnRecord, 'contextText' | 'outputText' | 'answer' | 'finish' | 'trainable'>,
): string {
  const { contextText, outputText, answer, trainable } = record;
  // The context of a text answer is a conversation.
  return isCut(record) && trainable !== false ? unendedThought(contextText, outputText) + answer : answer;
}

/** The text of the reply that an agent's program gets. */
export const replyText = ({ reply, answer }: Pick<TurnRecord, 'reply' | 'answer'>): string => reply?.text ?? answer;

type Tokens = Pick<TurnRecord, 'outputIds' | 'textLogprobs' | 'trainable' | 'contextLength' | 'usage'>;

/** Tokens of the answer: its ids, or as its server counts them. Null, unknown, if it gave text alone: never 0. */
export function outputTokens(record: Omit<Tokens, 'contextLength'>): number | null {
  const { outputIds, textLogprobs = [], trainable, usage } = record;
  if (outputIds.length > 0 || trainable !== false) return outputIds.length;
  return usage?.output ?? (textLogprobs.length > 0 ? textLogprobs.length : null);
}

/** Tokens of its whole context; null, unknown, if the server was sent messages and counted none. */
export function contextTokens({
  contextLength,
  trainable,
  usage,
}: Pick<Tokens, 'contextLength' | 'trainable' | 'usage'>): number | null {
  return trainable === false && contextLength === 0 ? (usage?.input ?? null) : contextLength;
}

/** A count of tokens as Temporal's UI shows it; `–` for what nobody knows. */
export const shownTokens = (tokens: number | null): string => `${tokens ?? '–'} tokens`;

/** Unknown if any part is. */
export function totalTokens(parts: readonly (number | null)[]): number | null {
  return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0);
}

/** Ids of C_t: everything before turn t's answer. `turn` is 1-based. */
export function contextIds(turns: readonly TurnRecord[], turn: number): number[] {
  // No push(...ids): a context of 130,000 tokens would overflow the stack.
  const parts = pathTo(turns, turn).flatMap((t) => (t.turn === turn ? [t.contextIds] : [t.contextIds, t.outputIds]));
  return concatenated(...parts);
}

/** The turns whose tokens turn t's context begins with, and turn t: all up to it, or the path to an agent's call. */
export function pathTo<T extends Pick<TurnRecord, 'turn' | 'asked'>>(turns: readonly T[], turn: number): T[] {
  if (!turns[turn - 1]?.asked) return turns.slice(0, turn);
  const path: T[] = [];
  for (let at: number | null = turn; at !== null; at = path[0]!.asked?.parent ?? null) {
    const record: T | undefined = turns[at - 1];
    if (!record || path.includes(record))
      throw new Error(`turn ${turn} has no path to a root: turn ${at} is not before it`);
    path.unshift(record);
  }
  return path;
}

/** All parts in one list: ids, or logprobs. */
export function concatenated(...parts: readonly (readonly number[])[]): number[] {
  return ([] as number[]).concat(...parts);
}

interface TurnTableInput {
  readonly title: string;
  readonly phase: string;
  readonly turns: readonly TurnFacts[];
  readonly numTurns: number;
}

const COLUMNS: readonly MarkdownColumn[] = [
  { name: 'turn', align: 'right' },
  { name: 'verdict', align: 'left' },
  { name: 'tokens', align: 'right' },
  { name: 'context', align: 'right' },
  { name: 'finish', align: 'left' },
  { name: 'version', align: 'right' },
  { name: 'reason', align: 'left' },
];

/** Shown where an environment gives rewards of its own. */
const REWARD: MarkdownColumn = { name: 'reward', align: 'right' };

/** Temporal takes 20 kB of details, and an agent may make thousands of calls. */
const MOST_ROWS = 100;

export function turnTable({ title, phase, turns, numTurns }: TurnTableInput): string {
  const rewarded = turns.some(({ reward }) => reward !== undefined);
  const columns = rewarded ? [...COLUMNS, REWARD] : COLUMNS;
  const rows = turns.slice(-MOST_ROWS).map((t) => {
    const version = t.versionStart === t.versionEnd ? `${t.versionStart}` : `${t.versionStart}–${t.versionEnd}`;
    return [
      t.turn,
      t.verdict,
      t.outputTokens ?? '–',
      t.contextTokens ?? '–',
      t.finish,
      version,
      escapeMarkdown(t.reason),
      ...(rewarded ? [t.reward ?? '–'] : []),
    ];
  });
  return [
    `**${escapeMarkdown(title)}**`,
    '',
    `${phase} (${turns.filter(({ verdict }) => verdict !== 'called').length} of ${numTurns} turns)`,
    '',
    ...markdownTable(columns, rows),
  ].join('\n');
}

// What an environment says of parts of an answer: rewards for spans of it, and tokens that are not to be trained. Spans are in
// Unicode code points of the text that it was sent; a token belongs to the span in which it begins. Pure.

import type { Credit, EnvironmentRecord } from './environment.ts';
import { answerToJudge } from './turn-facts.ts';
import type { TurnRecord } from './turn.ts';
import type { VerdictRecord } from './trajectory.ts';

export const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

interface Played {
  readonly query: { readonly environment?: string };
  readonly settings: { readonly program?: unknown; readonly environments?: readonly EnvironmentRecord[] };
}

/** Whether its environment speaks of parts of answers. The text that an agent's program gives has no tokens. */
export const takesCredit = ({ query, settings }: Played): boolean =>
  !settings.program && settings.environments?.find(({ name }) => name === query.environment)?.credits === true;

/** Whether all rows of its run have rewards by token: an environment speaks of parts of answers, or an agent's calls have rewards. */
export const isOfCredit = ({ settings }: Pick<Played, 'settings'>): boolean =>
  settings.program !== undefined || settings.environments?.some(({ credits }) => credits) === true;

/** The fault of spans of a text of so many code points; undefined if they are in order, apart and within it. */
export function flawOfSpans(spans: readonly Pick<Credit, 'from' | 'to'>[], length: number): string | undefined {
  for (const [i, { from, to }] of spans.entries()) {
    const at = `\`credit.${i}\` is from ${from} to ${to}`;
    if (to <= from) return `${at}: it holds no character`;
    if (to > length) return `${at}, and the answer has ${length} characters`;
    const before = spans[i - 1]?.to ?? 0;
    if (from < before)
      return `${at}, and the one before it ends at ${before}: they are in order, and none is over another`;
  }
  return undefined;
}

/** The reward of an answer with those of its spans. */
export const withSpans = (base: number, spans: readonly Pick<Credit, 'reward'>[] = []): number =>
  spans.reduce((sum, { reward = 0 }) => sum + reward, base);

type Decode = (ids: readonly number[]) => Promise<string>;
type Answer = Pick<TurnRecord, 'contextText' | 'outputIds' | 'outputText' | 'answer' | 'finish'>;

/** Where each token begins in the text that is judged. `decode`: without special tokens. */
export async function tokenStarts(turn: Answer, decode: Decode): Promise<number[]> {
  const length = codePoints(turn.answer);
  const before = codePoints(answerToJudge(turn)) - length;
  const starts = await startsInText(turn.outputIds, decode);
  return starts.map((at) => before + Math.min(at, length));
}

/** Text that ends within a character. */
const WITHIN = /\uFFFD+$/;

/** Tokens that may leave one character open; more are no text. */
const MOST_OPEN = 16;

/** Told from a few tokens at a time, so that it is linear: in a window are the tokens before those that are read, and these. */
async function startsInText(ids: readonly number[], decode: Decode): Promise<number[]> {
  const starts: number[] = [];
  // `length`: of the text of all tokens before `read`. `known`: the text of those from `from` to `read`.
  let [from, read, known, length, ahead] = [0, 0, '', 0, 0];
  for (const k of ids.keys()) {
    starts.push(length + ahead);
    const whole = await decode(ids.slice(from, k + 1));
    const goesOn = whole.startsWith(known);
    const more = goesOn ? whole.slice(known.length) : whole;
    // The next token begins in the character that this one leaves open.
    ahead = goesOn ? codePoints(more.replace(WITHIN, '')) : 0;
    if (more === '' || (WITHIN.test(more) && k - read < MOST_OPEN)) continue;
    // A character that was never ended changed the text before it.
    length = goesOn ? length + codePoints(more) : codePoints(await decode(ids.slice(0, k + 1)));
    [from, read, ahead] = [read, k + 1, 0];
    known = await decode(ids.slice(from, read));
  }
  return starts;
}

type Said = Pick<VerdictRecord, 'credit' | 'base' | 'train'> | null;
type Tokens = Pick<TurnRecord, 'turn' | 'outputIds' | 'tokenStarts'>;
type Wrong = (problem: string) => never;

/** 1 for each token of an answer that its environment lets be trained. */
export function trainedTokens(turn: Tokens, said: Said, wrong: Wrong): (0 | 1)[] {
  const { outputIds } = turn;
  const masked = said?.credit?.filter(({ train }) => train === false) ?? [];
  if (said?.train === false) return outputIds.map(() => 0);
  if (masked.length === 0) return outputIds.map(() => 1);
  let next = 0;
  return startsOf(turn, wrong).map((at) => {
    while (next < masked.length && masked[next]!.to <= at) next++;
    return next < masked.length && masked[next]!.from <= at ? 0 : 1;
  });
}

/** The rewards of an answer, each with the place of its token: of a span its last one, of the rest the answer's. `reward`: r_t. */
export function placedRewards(
  turn: Tokens,
  said: Said,
  reward: number,
  wrong: Wrong,
): readonly (readonly [at: number, reward: number])[] {
  const last = turn.outputIds.length - 1;
  if (said?.base === undefined) return [[last, reward]];
  const starts = startsOf(turn, wrong);
  let before = 0;
  const ofSpans = (said.credit ?? []).map(({ to, reward: own = 0 }) => {
    while (before < starts.length && starts[before]! < to) before++;
    return [Math.min(Math.max(0, before - 1), last), own] as const;
  });
  return [...ofSpans, [last, said.base]];
}

function startsOf({ turn, outputIds, tokenStarts: starts }: Tokens, wrong: Wrong): readonly number[] {
  if (starts?.length !== outputIds.length) wrong(`turn ${turn} says not where each of its tokens begins`);
  return starts!;
}

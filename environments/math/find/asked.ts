// The part of a question that asks, and whether a statement names another thing than it does: another person, the contrary
// (the quotient where the remainder is asked), another count, a number that the question does not hold. Linear.

const ASKS =
  /\b(?:how (?:many|much|long|far|old|tall|fast|high|big|large)|what|which|who|when|find|compute|evaluate|determine|calculate|simplify|express|factor|give|in terms of)\b/i;

let last: { readonly question: string; readonly asked: string } | undefined;

/** The sentences of a question that ask; all of it, if none does. */
export function askedOf(question: string): string {
  if (last?.question === question) return last.asked;
  const sentences = question.split(/(?<=[.!?])\s+(?=[\p{Lu}$\\])/u).filter((sentence) => ASKS.test(sentence));
  const asking = sentences.map((sentence) => sentence.slice(ASKS.exec(sentence)?.index ?? 0)).join(' ');
  const asked = asking === '' ? question : asking;
  last = { question, asked };
  return asked;
}

const ASKING = /\b(?:how|what|which|whose|who|by what)\b/i;
const ORDER =
  /^\W*(?:please\s+)?(?:find|compute|evaluate|determine|calculate|simplify|express|factor|give|solve|state|write)\b/i;
/** The clause that asks, without the conditions before it; an adjunct ("In 6 years, how old …") is a part of it. */
export function clauseOf(question: string): string {
  const sentences = question.split(/(?<=[.!?])\s+(?=[\p{Lu}$\\])/u);
  const asking = sentences.filter((sentence) => /\?\W*$/.test(sentence) && ASKING.test(sentence));
  const clauses = asking.map((sentence) => {
    const at =
      /\bhow (?:many|much|long|far|old|tall|fast|high|big|large|wide|deep|heavy|often)\b/i.exec(sentence)?.index ??
      ASKING.exec(sentence)?.index ??
      0;
    const before = sentence.slice(0, at);
    return /^(?:in|on|at|by|after|before|during|for|to)\b[^,]{0,40},?\s*$/i.test(before)
      ? sentence
      : sentence.slice(at);
  });
  if (clauses.length > 0) return clauses.join(' ');
  const orders = sentences.filter((sentence) => ORDER.test(sentence));
  return orders.length > 0 ? orders.join(' ') : askedOf(question);
}

/** "How many dozen eggs" asks for dozens, and no eggs. */
export const SCALED =
  /\bhow many (?:more |additional |total )?(dozen|score|hundred|thousand|million|billion)s?(?:\s+(?:of\s+)?([a-z]{3,}))?/i;

const MOST = /\b(?:max(?:imum|imal|imize)?|most|largest|greatest|highest|longest|biggest|at most|up to)\b/i;
const LEAST = /\b(?:min(?:imum|imal|imize)?|least|smallest|fewest|lowest|shortest)\b/i;
/** "At most 11" is the largest number, where that is asked for. */
export function withoutBound(words: string, question: string): string {
  const up =
    /\b(?:at (?:the )?most|up to|as many as|no more than|(?:must|can|should|may) ?not (?:exceed|be more than))\b/gi;
  const down = /\b(?:at (?:the )?least|no (?:fewer|less) than)\b/gi;
  if (question === '' || !/\b(?:at|up|as|no|(?:can)?not)\s/i.test(words)) return words;
  const asked = askedOf(question);
  return words.replace(MOST.test(asked) ? up : NEVER, 'is').replace(LEAST.test(asked) ? down : NEVER, 'is');
}
const NEVER = /(?!)/g;

const SHIFT =
  /\b(?:ago|from now|later|earlier|hence|in (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?:years?|months?))\b/i;
const CHANGE =
  /\b(?:increas|decreas|grow|gr[eo]w|ris|rose|drop|f[ae]ll|shr[iu]nk|reduc|chang|gain|differ|exceed)\p{L}*\s+by\s*$/iu;
/** "The volume increases by 6" where the volume is asked, "Ben will be 21 in nine years" where his age is. */
export const changesOther = (before: string, question: string): boolean =>
  CHANGE.test(before) &&
  !/\b(?:increas|decreas|grow|chang|gain|drop|rais|rise|reduc|differ|percent|exceed|more|less|by how)/i.test(
    askedOf(question),
  );
export const shiftsOther = (sentence: string, question: string): boolean =>
  SHIFT.test(sentence) && !SHIFT.test(askedOf(question));

const RATE = /\b(?:per\s+(\p{L}{3,})|(?:an?|each|every)\s+(second|minute|hour|day|week|month|year))\b/iu;
/** "$1,800 a week" where the earnings of 4 weeks are asked. */
export function ratesOther(rest: string, question: string): boolean {
  const [, per, each] = RATE.exec(rest) ?? [];
  const noun = (per ?? each)?.toLowerCase();
  if (noun === undefined) return false;
  const asked = askedOf(question).toLowerCase();
  if (/\b(?:speed|rate|pace|fast|velocity|averages?)\b|\/|\b(?:hour|dai|week|month|year)ly\b/.test(asked)) return false;
  return !new RegExp(`\\b(?:per|an?|each|every)\\s+(?:[\\p{L}\\d-]+\\s+|\\d+-)?${noun}`, 'u').test(asked);
}

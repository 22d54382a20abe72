// Words that a statement of the answer may hold because the question, the solution or the text before it holds them. Compared
// without their endings, so that "sold 3 clips" speaks of "How many clips did she sell?".

export interface Known {
  (word: string): boolean;
  /** Is the question known? Then its words are the world. */
  readonly asked?: boolean;
  readonly question?: string;
  /** Is this one of the question's numbers? */
  /** Does the question deny something? Then words that deny may be its own: "like neither", "do not like either". */
  readonly denies?: boolean;
  readonly gives?: (number: string) => boolean;
}

export const NOTHING: Known = () => false;

const stem = (word: string): string => word.replace(/(?:ies|es|s|ed|d|ing|e|y)$/, '');

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set((text.toLowerCase().match(/\p{L}{2,}/gu) ?? []).map(stem));

/** The words of a text, read when first asked for. */
export function wordsIn(text: () => string): Known {
  let words: ReadonlySet<string> | undefined;
  return (word) => (words ??= wordsOf(text())).has(stem(word));
}

const DENIAL = /\b(?:not|no|neither|none|without|cannot)\b|n['’]t\b/i;
/** A question about the beginning, in whatever words. */
const FIRST = /\b(?:at first|start|begin|began|original|initial)/i;

/** The words of the question and the solutions, and the numbers of the question. */
export function knownIn(question: string, solutions: readonly string[]): Known {
  let numbers: ReadonlySet<string> | undefined;
  return Object.assign(
    wordsIn(
      () => `${question} ${solutions.join(' ')} ${FIRST.test(question) ? 'original originally initial initially' : ''}`,
    ),
    {
      asked: question !== '',
      question,
      denies: DENIAL.test(question),
      gives: (list: string): boolean =>
        list
          .split(' , ')
          .every((number) =>
            (numbers ??= new Set(question.match(/\d[\d.,]*(?<![.,])/g))).has(number.replace(/^[$€£]|[^\d]+$/g, '')),
          ),
    },
  );
}

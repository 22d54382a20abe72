// Words that a statement of the answer may hold because the question, the solution or the text before it holds them. Compared
// without their endings, so that "sold 3 clips" speaks of "How many clips did she sell?".

export interface Known {
  (word: string): boolean;
  /** Is the question known? Then its words are the world. */
  readonly asked?: boolean;
  readonly question?: string;
  /** Is this one of the question's numbers? */
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

/** The words of the question and the solutions, and the numbers of the question. */
export function knownIn(question: string, solutions: readonly string[]): Known {
  let numbers: ReadonlySet<string> | undefined;
  return Object.assign(
    wordsIn(() => `${question} ${solutions.join(' ')}`),
    {
      asked: question !== '',
      question,
      gives: (number: string): boolean =>
        (numbers ??= new Set(question.match(/\d[\d.,]*(?<![.,])/g))).has(number.replace(/^[$€£]/, '')),
    },
  );
}

// Words that a statement of the answer may hold because the question, the solution or the text before it holds them. Compared
// without their endings, so that "sold 3 clips" speaks of "How many clips did she sell?".

export interface Known {
  (word: string): boolean;
  /** Is the question known? Then its words are the world. */
  readonly asked?: boolean;
}

export const NOTHING: Known = () => false;

const stem = (word: string): string => word.replace(/(?:ies|es|s|ed|d|ing|e|y)$/, '');

/** The words of a text, read when first asked for. */
export function wordsIn(text: () => string, asked = false): Known {
  let known: ReadonlySet<string> | undefined;
  const read = (): ReadonlySet<string> =>
    (known ??= new Set(
      (
        text()
          .toLowerCase()
          .match(/\p{L}{2,}/gu) ?? []
      ).map(stem),
    ));
  return Object.assign((word: string) => read().has(stem(word)), { asked });
}

// How the judge reads the solutions of a data set before they are played: its interface for accepting a row.

/** `inWords`: it is a name or a phrase, and only the same words are right. */
export type Examined =
  { readonly usable: true; readonly inWords?: true } | { readonly usable: false; readonly reason: string };

/** A text's final answer: marked by a box or `####`; the whole text, if it is nothing else; or somewhere in prose. */
export interface FinalAnswer {
  readonly text: string;
  readonly by: 'mark' | 'whole' | 'prose';
}

export interface SolutionReader {
  /** Undefined if the text contains none, or ends inside its box. */
  finalAnswer(text: string): FinalAnswer | undefined;
  /** Whether the judge can read each, and show that it equals itself. */
  examine(solutions: readonly string[]): Promise<readonly Examined[]>;
  /** False if the judge shows that this final answer is none of the solutions. */
  mayBe(finalAnswer: string, solutions: readonly string[]): Promise<boolean>;
}

// How the solutions of a data set are read before they are played: the judge's part of accepting a row, as the data
// sets see it.

export type Examined = { readonly usable: true } | { readonly usable: false; readonly reason: string };

/** A text's final answer: in a box or behind `####`; the text itself, which is nothing else; or somewhere in prose. */
export interface FinalAnswer {
  readonly text: string;
  readonly by: 'mark' | 'whole' | 'prose';
}

export interface SolutionReader {
  /** Undefined where the text says none, or was cut inside its box. */
  finalAnswer(text: string): FinalAnswer | undefined;
  /** Whether the judge can read each, and show it equal to itself. */
  examine(solutions: readonly string[]): Promise<readonly Examined[]>;
  /** False where the judge shows that this final answer is none of the solutions. */
  mayBe(finalAnswer: string, solutions: readonly string[]): Promise<boolean>;
}

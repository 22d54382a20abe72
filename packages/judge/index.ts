// The door: all that others import. `judge` is a pure function, `createJudge` the same in processes of its own; the rest reads
// solutions, questions and thoughts as they do.

export { judge, type Judged, type JudgeOptions } from './judge.ts';
export { createJudge, type Judge, type ProcessOptions } from './pool/create-judge.ts';
export { JudgeError } from './pool/judge-error.ts';
export { examineSolution, type SolutionExam } from './solution.ts';
export { finalAnswer, type FinalAnswer } from './find/answer.ts';
export { answerMessage, behindThoughts } from './find/thoughts.ts';
export { LETTERS, listedChoices } from './read/choices.ts';

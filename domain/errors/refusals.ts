// Calls that are not run: the sentence that the model gets, and its reason for the statistics. The reason is read out of
// the sentence, which the records hold: so it counts in older runs too. Nothing of the model stands before it.

export const CALL_REFUSALS = ['unreadable', 'unknown-tool', 'bad-arguments', 'too-many'] as const;
/**
 * unreadable     it is not in the form of the run's calls: broken JSON, an end that is missing
 * unknown-tool   no tool of the run has its name
 * bad-arguments  they do not fit the tool's schema
 * too-many       its reply, or the turns since the last answer, hold more calls than the run allows
 */
export type CallRefusal = (typeof CALL_REFUSALS)[number];

/** `what`: the fault; `form`: how a call is written. */
export const notInForm = (what: string, form: string): string =>
  `This call was not run: ${what}. Write a call as ${form}`;

export const badArgument = (argument: string, wanted: string): string =>
  `the argument ${JSON.stringify(argument)} must be ${wanted}`;

export const noSuchTool = (name: string, tools: readonly string[]): string =>
  `There is no tool ${JSON.stringify(name.slice(0, 80))}. The tools are: ${tools.join(', ')}.`;

export const badArguments = (name: string, flaw: string): string => `The call of ${name} was not run: ${flaw}.`;

export const TOO_DEEP = 'The arguments are nested too deep; the call was not run.';

export const furtherCalls = (more: number, most: number): string =>
  `${more} further calls were not run: a reply may hold ${most}.`;

export const USED_UP = 'This call was not run: no further call is run before your answer.';

const BEGINNINGS: readonly (readonly [RegExp, CallRefusal])[] = [
  [/^There is no tool /, 'unknown-tool'],
  [/^(?:The call of |The arguments are |This call was not run: the argument )/, 'bad-arguments'],
  [/^(?:\d+ further calls were not run: |This call was not run: no further call )/, 'too-many'],
];

/** `said`: the output of a call with the outcome `refused`. */
export function refusalOf(said: string): CallRefusal {
  return BEGINNINGS.find(([beginning]) => beginning.test(said))?.[1] ?? 'unreadable';
}

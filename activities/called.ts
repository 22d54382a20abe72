// The calls of a reply: which of them are to be run, and the reply to the turn when all of them have been, which holds
// what the model is told of each. No environment is asked: a turn that called tools is no answer.

import { StoreError } from '../domain/errors.ts';
import type { EarlierTurn } from '../domain/new-context.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { TrajectoryReference } from '../domain/ids.ts';
import { type CallResult, type CallToRun, clipped, type ToolSettings, type WrittenCall } from '../domain/tool.ts';
import type { VerdictRecord } from '../domain/trajectory.ts';
import type { Finish, TurnRecord } from '../domain/turn.ts';
import type { Store } from '../storage/store.ts';
import type { Tools } from '../tools/tool.ts';

const LAST = 'No further call is run before your answer: give it now.';
const NOT_RUN = 'This call was not run: no further call is run before your answer.';

/** The calls of a reply; undefined if it is an answer. `before`: the turns before it. */
export function callsOf(
  { outputText, finish }: { readonly outputText: string; readonly finish: Finish },
  before: readonly { readonly record: Pick<TurnRecord, 'calls'> }[],
  { tools: own }: Pick<RolloutSettings, 'tools'>,
  tools: Tools | undefined,
): readonly WrittenCall[] | undefined {
  // A reply that was cut is an answer as it stands.
  if (!own || !tools || finish !== 'stop') return undefined;
  const left = own.maxCalls - callsSince(before.map(({ record }) => record));
  const calls = left > 0 ? tools.callsIn(outputText, own) : [];
  if (calls.length === 0) return undefined;
  return calls.map((call, i) => (i < left ? call : { ...call, error: NOT_RUN }));
}

/** The calls since the last answer. */
function callsSince(turns: readonly Pick<TurnRecord, 'calls'>[]): number {
  let count = 0;
  for (let i = turns.length - 1; i >= 0 && turns[i]!.calls; i--) count += turns[i]!.calls!.length;
  return count;
}

export function callsToRun(calls: readonly WrittenCall[], { list }: ToolSettings): CallToRun[] {
  return calls.flatMap(({ name, error }, i) => {
    const tool = list.find((one) => one.name === name);
    if (error !== undefined || !tool) return [];
    return [{ call: i + 1, name: tool.name, code: tool.door === 'python', pure: tool.effect === 'pure' }];
  });
}

/** The reply to a turn that called tools, from the records of its calls. */
export async function replyToCalls(
  store: Store,
  id: TrajectoryReference,
  { turn, calls = [] }: TurnRecord,
  hash: string,
  before: readonly EarlierTurn[],
  own: ToolSettings,
  tools: Tools,
): Promise<VerdictRecord> {
  const results = await Promise.all(
    calls.map(async ({ name, arguments: given, error }, i): Promise<CallResult> => {
      const said = { name, arguments: given };
      if (error !== undefined) return { ...said, outcome: 'refused', effect: null, ms: null, output: error, of: null };
      const stored = await store.getCall(id, turn, i + 1);
      if (!stored) throw missing(store, id, turn, i + 1);
      const { outcome, effect, output, startedAt, finishedAt } = stored.record;
      const told = clipped(output, own.outputBytes);
      return { ...said, outcome, effect, ms: finishedAt - startedAt, output: told, of: stored.hash };
    }),
  );
  const used = callsSince([...before.map(({ turn: earlier }) => earlier), { calls }]);
  const messages = calls.map((call, i) => {
    const { output } = results[i]!;
    const isLast = i === calls.length - 1 && used >= own.maxCalls;
    return tools.resultMessage(call, isLast ? `${output}\n\n${LAST}` : output, own);
  });
  const tookMs = results.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
  return { turn, verdict: 'called', reason: 'tools', messages, of: hash, tookMs, calls: results };
}

function missing(store: Store, id: TrajectoryReference, turn: number, call: number): StoreError {
  return new StoreError(
    `Query "${id.query}", sample ${id.sample}: the record of call ${call} of turn ${turn} is not in ${store.folder}.`,
    { reason: 'record-missing', fix: 'Every worker of a run must reach the same folder; was a file removed?' },
  );
}

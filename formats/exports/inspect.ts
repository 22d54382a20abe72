// A run as a log of Inspect (`.eval`, its form 2: a zip of JSON), which `read_eval_log` and `inspect view` read: a sample for
// each ended rollout, with its conversation, scores and usage. What no score is known of has none, and is never wrong.

import { feedbackOn } from '../../domain/context/feedback.ts';
import type { Message } from '../../domain/query/query.ts';
import { entriesOfAnswers } from '../../domain/rollout/ending.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../../domain/rollout/trajectory.ts';
import { contextTokens, outputTokens } from '../../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { Chunk, Exporter } from '../../domain/samples/exporter.ts';
import type { GivenCall } from '../../domain/tools/tool.ts';
import { argumentsOf } from './chat.ts';
import { openPacked, openZip, packed } from './zip.ts';

export const inspect = {
  name: 'inspect',
  extension: 'eval',
  description: 'a log of Inspect (.eval): a sample per ended rollout, with scores and messages',
} as const;

/** Tokens, as Inspect counts them: `input_tokens` are without those of a cache. */
interface Usage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_tokens_cache_read: number;
  reasoning_tokens: number;
}
export type Usages = Map<string, Usage>;

/** What an ended rollout is scored by; `success` and `returns` have an entry for each answer. */
export type ScoredEnd = Pick<EndRecord, 'outcome' | 'success' | 'returns'>;

/** The parts of a log beside its samples. */
export interface InspectRun {
  readonly eval: object;
  /** The fields of the header that the end of the run decides. */
  ended(usages: Usages): object;
  /** The known scores of a rollout, by scorer. The first one is that of its last answer. */
  scoresOf(end: ScoredEnd): readonly (readonly [scorer: string, value: 'C' | 'I' | number])[];
}

const VERSION = 2;
/** Summaries are deflated in parts of this size. */
const SUMMARIES_CHARS = 1 << 18;

export function inspectLog(run: InspectRun): Exporter {
  const samplesOf = (trajectory: Trajectory) => {
    const { branch } = trajectory;
    // The conversation of an agent's rollout that was judged ends with its last call.
    return branch && branch.index < branch.of - 1 ? [] : [sampleOf(trajectory, run)];
  };
  return {
    ...inspect,
    needsIds: false,
    incomplete: 'all',
    lines: (trajectory) => samplesOf(trajectory).map(jsonOf),
    open() {
      const zip = openZip();
      const head = { version: VERSION, eval: run.eval, plan: {} };
      const before: Chunk[] = [zip.add('_journal/start.json', packed(jsonOf(head)))];
      const summaries = openPacked();
      const usages: Usages = new Map();
      let [rows, unpacked] = [0, ''];
      return {
        get rows() {
          return rows;
        },
        add(trajectory) {
          const chunks = before.splice(0);
          for (const sample of samplesOf(trajectory)) {
            for (const [model, usage] of Object.entries(sample.model_usage)) addUsage(usages, model, usage);
            unpacked += `${rows++ === 0 ? '[' : ','}${jsonOf(summaryOf(sample))}`;
            if (unpacked.length > SUMMARIES_CHARS) summaries.push(unpacked);
            if (unpacked.length > SUMMARIES_CHARS) unpacked = '';
            chunks.push(zip.add(`samples/${sample.id}_epoch_${sample.epoch}.json`, packed(jsonOf(sample))));
          }
          return chunks;
        },
        end() {
          if (rows === 0) return [];
          summaries.push(`${unpacked}]`);
          const header = packed(jsonOf({ ...head, ...run.ended(usages) }));
          return [zip.add('summaries.json', summaries.end()), zip.add('header.json', header), ...zip.end()];
        },
      };
    },
  };
}

/** Half of a surrogate pair is no text for Python's readers. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part));

type Sample = ReturnType<typeof sampleOf>;

function sampleOf({ rollout, turns, end, branch }: Trajectory, { scoresOf }: InspectRun) {
  const { run, query, sample, attempt, birthTime } = rollout;
  const { prompt, solutions } = query;
  const { outcome, stopReason: stop_reason, called, turnRewards: rewards, returns, failure, finishedAt } = end!;
  const answers = {
    outcome,
    success: entriesOfAnswers(end!.success, called),
    returns: entriesOfAnswers(returns, called),
  };
  const given = prompt.kind === 'text' ? [{ role: 'user', content: prompt.text }] : prompt.messages;
  const usages: Usages = new Map();
  for (const { record } of turns) addUsage(usages, record.model, usageOf(record));
  const verdict = turns.findLast(({ verdict: found }) => found)?.verdict;
  const last = turns.at(-1)?.record;
  const why = [verdict?.reason, verdict?.note, verdict?.judged?.reply].filter((part) => part !== undefined).join('\n');
  const judged = { answer: verdict?.extracted ?? null, explanation: why || null };
  const worked = turns.reduce((ms, { record: r, verdict: v }) => ms + r.finishedAt - r.startedAt + (v?.tookMs ?? 0), 0);
  return {
    id: query.queryId.toWellFormed(),
    epoch: sample + 1,
    input: prompt.kind === 'text' ? prompt.text : given.map((message) => sent(message, 'input')),
    target: solutions.length === 1 ? solutions[0]! : solutions,
    messages: [...given.map((message) => sent(message, 'input')), ...turns.flatMap((_, i) => said(turns, i))],
    output: last ? outputOf(last) : {},
    scores: Object.fromEntries(scoresOf(answers).map(([name, value], i) => [name, { value, ...(i === 0 && judged) }])),
    metadata: {
      ...{ outcome, stop_reason, attempt, turns: turns.length, rewards, returns },
      verdicts: turns.map(({ verdict: one }) => one?.verdict ?? null),
      ...(outcome === 'undecided' && { undecided: why }),
      ...(verdict?.metrics && { metrics: verdict.metrics }),
      ...(branch && { branches: branch.of }),
    },
    model_usage: Object.fromEntries(usages),
    started_at: new Date(birthTime).toISOString(),
    completed_at: new Date(finishedAt).toISOString(),
    total_time: (finishedAt - birthTime) / 1000,
    working_time: worked / 1000,
    uuid: `${run}/${query.queryId}/${sample}/${attempt}`,
    error: failure
      ? errorOf(`${failure.reason} at turn ${failure.turn}: ${failure.message}`)
      : outcome === 'cancelled'
        ? errorOf('Cancelled()')
        : null,
    turn_count: turns.length,
  };
}

const errorOf = (message: string) => ({ message, traceback: '', traceback_ansi: '' });

/** An answer, and the messages that the next turn was sent. */
function said(turns: readonly PlayedTurn[], i: number): object[] {
  const { record, verdict } = turns[i]!;
  const next = turns[i + 1]?.record;
  const replies = next && verdict ? feedbackOn(verdict, next.said?.text) : [];
  return [answerOf(record), ...replies.map((message) => sent(message))];
}

const ROLES = ['system', 'user', 'assistant', 'tool'];

/** Inspect knows four roles, and `developer` is one of the first. */
function sent({ role: given, content, name, tool_call_id }: Message, source?: 'input'): object {
  const role = ROLES.includes(given) ? given : given === 'developer' ? 'system' : 'user';
  const tool = role === 'tool' && { ...(tool_call_id && { tool_call_id }), ...(name && { function: name }) };
  return { role, content, ...(source && { source }), ...tool };
}

function answerOf({ answer, reasoning, calls, toolCalls, model }: TurnRecord): object {
  const thought = reasoning !== undefined && [
    { type: 'reasoning', reasoning },
    { type: 'text', text: answer },
  ];
  const tool_calls = calls && toolCalls?.map(callOf);
  return {
    role: 'assistant',
    content: thought || answer,
    source: 'generate',
    model,
    ...(tool_calls && { tool_calls }),
  };
}

function callOf({ id, name, arguments: text }: GivenCall): object {
  const given = argumentsOf(text);
  const unread = typeof given === 'string' && { parse_error: `The arguments are no plain object of JSON: ${text}` };
  return { id, function: name, type: 'function', arguments: unread ? {} : given, ...unread };
}

function outputOf(record: TurnRecord): object {
  const { model, answer: completion, calls, finish, startedAt, finishedAt } = record;
  const ended = finish === 'stop' ? 'stop' : finish === 'length' ? 'max_tokens' : 'unknown';
  const choices = [{ message: answerOf(record), stop_reason: calls ? 'tool_calls' : ended }];
  return { model, choices, completion, usage: usageOf(record) ?? null, time: (finishedAt - startedAt) / 1000 };
}

/** Undefined where the server counted no tokens. */
function usageOf(record: TurnRecord): Usage | undefined {
  const [context, output] = [contextTokens(record), outputTokens(record)];
  if (context === null || output === null) return undefined;
  const { cached = 0, reasoning = 0 } = record.usage ?? {};
  const counted = { input_tokens: context - cached, output_tokens: output, total_tokens: context + output };
  return { ...counted, input_tokens_cache_read: cached, reasoning_tokens: reasoning };
}

function addUsage(usages: Usages, model: string, usage: Usage | undefined): void {
  const sum = usages.get(model);
  if (!usage) return;
  if (!sum) usages.set(model, { ...usage });
  else for (const key of Object.keys(sum) as (keyof Usage)[]) sum[key] += usage[key];
}

/** The characters of a text in a list of samples. */
const SHOWN = 1024;
const cut = <T extends string | object>(value: T): T =>
  JSON.parse(jsonOf({ value }), (_, part: unknown) => (typeof part === 'string' ? part.slice(0, SHOWN) : part))
    .value as T;

/** A sample as Inspect lists it: without messages and output. */
function summaryOf({ messages, metadata, error, ...sample }: Sample): object {
  const { outcome, turns } = metadata;
  const { id, epoch, model_usage, started_at, completed_at, total_time, working_time, uuid, turn_count } = sample;
  return {
    ...{ id, epoch, input: cut(sample.input), target: cut(sample.target), metadata: { outcome, turns } },
    ...{ scores: cut(sample.scores), model_usage, started_at, completed_at, total_time, working_time, uuid },
    ...{ error: error?.message ?? null, completed: true, message_count: messages.length, turn_count },
  };
}

// verifiers' trace file: one Episode with one Trace a line. A node per message, with the tokens that it adds; a path from
// the root is the sample. All of the prompt's tokens stand on its last message: which of them are whose is not recorded.

import { feedbackOn } from '../../domain/rollout/conversation.ts';
import { neutralRow } from '../../domain/rollout/neutral-row.ts';
import type { Message, Query } from '../../domain/run/query.ts';
import type { PlayedTurn, Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { Exporter, Labels } from './exporter.ts';

const TRACE_VERSION = 1;
const FINISH: Readonly<Record<Finish, 'stop' | 'length' | null>> = {
  stop: 'stop',
  length: 'length',
  abort: null,
  unknown: null,
};

export const verifiers: Exporter = {
  name: 'verifiers',
  extension: 'jsonl',
  fields: ['traces', 'task'],
  needsIds: true,
  grouped: true,
  advantages: 'none',
  description: 'traces.jsonl of verifiers v1: one episode a line',
  note:
    'verifiers has no reward per turn: the reward is the return of turn 1, the turns’ own are in `info`. Its `work.step` ' +
    'is the oldest weight version, and a prompt of bare text stands as a user message.',
  lines: (trajectory, labels) => [JSON.stringify(episode(trajectory, labels))],
};

interface TraceMessage extends Message {
  readonly tool_call_id?: string;
}

function episode(trajectory: Trajectory, labels: Labels = {}): object {
  const { rollout, turns, end } = trajectory;
  const { query, run, settings } = rollout;
  const row = neutralRow(trajectory, labels);
  const seconds = (ms: number) => ms / 1000;
  const task = { type: 'EverturnTask', data: taskData(query, rollout.index), key: query.queryId };
  const nodes: object[] = [];
  const calls: object[] = [];
  for (const [i, { record, verdict }] of turns.entries()) {
    const added = i === 0 ? promptOf(query) : followed(turns[i - 1]!);
    for (const [k, message] of added.entries())
      node(message, k === added.length - 1 ? record.contextIds : [], false, record.startedAt);
    node({ role: 'assistant', content: record.answer }, record.outputIds, true, record.finishedAt, {
      logprobs: row.logprobs.slice(row.turn_ends[i]! - record.outputIds.length, row.turn_ends[i]),
      advantages: row.turn_advantages ? record.outputIds.map(() => row.turn_advantages![i]!) : null,
    });
    calls.push({
      node: nodes.length - 1,
      model: record.model,
      sampling: { temperature: settings.temperature, top_p: settings.topP, max_tokens: record.maxNewTokens },
      finish_reason: FINISH[record.finish],
      usage: { prompt_tokens: record.contextLength, completion_tokens: record.outputIds.length },
      time: { start: seconds(record.startedAt), end: seconds(record.finishedAt) },
      ...(verdict ? {} : { error: null }),
    });
  }
  const [start, ended] = [seconds(rollout.birthTime), seconds(end!.finishedAt)];
  return {
    id: `${run}/${row.id}`,
    env: { id: 'everturn' },
    task,
    group: { id: row.group },
    run: {
      type: 'train',
      id: run,
      work: {
        type: 'train',
        step: row.version_start,
        policy: { start: row.version_start, end: row.version_end },
      },
    },
    ok: true,
    traces: [
      {
        version: TRACE_VERSION,
        id: `${run}/${row.id}/${row.attempt}`,
        verifiers: { version: 'everturn' },
        task,
        agent: { config: { model: turns[0]!.record.model }, name: 'agent', trainable: true },
        nodes,
        calls,
        rewards: { return: { score: row.reward, weight: 1 } },
        metrics: { ...lastMetrics(turns), success: row.success ? 1 : 0, turns: turns.length },
        info: { turn_rewards: row.turn_rewards, turn_returns: row.turn_returns, turn_success: row.turn_success },
        is_completed: true,
        ok: true,
        stop_condition: row.stop_reason,
        timing: { start, agent: { start, end: ended } },
      },
    ],
  };

  function node(message: Message, ids: readonly number[], sampled: boolean, at: number, more: object = {}): void {
    const parent = nodes.length === 0 ? null : nodes.length - 1;
    const mask = ids.map(() => sampled);
    nodes.push({
      parent,
      message: traceMessage(message),
      sampled,
      timestamp: seconds(at),
      token_ids: ids,
      mask,
      ...more,
    });
  }
}

const followed = ({ verdict }: PlayedTurn): readonly Message[] => (verdict ? feedbackOn(verdict) : []);

function promptOf({ prompt }: Query): readonly Message[] {
  return prompt.kind === 'messages' ? prompt.messages : [{ role: 'user', content: prompt.text }];
}

function taskData(query: Query, index: number | null): object {
  return { idx: index, name: query.queryId, prompt: promptOf(query).map(traceMessage), solutions: query.solutions };
}

/** The environment's metrics of the last turn that has some. */
function lastMetrics(turns: readonly PlayedTurn[]): Readonly<Record<string, number>> {
  return turns.findLast(({ verdict }) => verdict?.metrics)?.verdict?.metrics ?? {};
}

/** verifiers knows system, user, assistant and tool. */
function traceMessage({ role, content }: Message): TraceMessage {
  if (role === 'developer') return { role: 'system', content };
  return role === 'tool' ? { role, content, tool_call_id: '' } : { role, content };
}

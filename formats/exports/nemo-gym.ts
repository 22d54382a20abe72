// NeMo-Gym's verify responses: one rollout a line, Responses-API items with the token ids of each answer. NeMo-RL asserts
// that the prompt of an answer begins with all tokens seen so far, which is what C_t is. An answer repeats its context.

import { completeTurns } from '../../domain/rollout/complete-turns.ts';
import { feedbackOn } from '../../domain/rollout/conversation.ts';
import { neutralRow } from '../../domain/rollout/neutral-row.ts';
import type { Message } from '../../domain/run/query.ts';
import { contextIds, type Trajectory } from '../../domain/rollout/trajectory.ts';
import { withoutChat } from './chat.ts';
import type { Exporter, Labels } from './exporter.ts';

export const nemoGym: Exporter = {
  name: 'nemo-gym',
  extension: 'jsonl',
  fields: ['responses_create_params', 'response'],
  needsIds: true,
  grouped: true,
  description: "NeMo-Gym's rollouts: Responses items with token ids and logprobs",
  note:
    'nemo-gym has one reward: the return of turn 1; the turns’ own are in `everturn`. Weight versions stand there too: ' +
    'NeMo-RL takes its own from the step.',
  leavesOut: withoutChat,
  lines: (trajectory, labels) => [JSON.stringify(verifyResponse(trajectory, labels))],
};

function verifyResponse(trajectory: Trajectory, labels: Labels = {}): object {
  const { rollout, turns } = trajectory;
  const { query, sample } = rollout;
  const row = neutralRow(trajectory, labels);
  const records = completeTurns(trajectory).turns;
  const output: object[] = [];
  for (const [i, record] of records.entries()) {
    const said = turns[i - 1]?.verdict;
    if (said) output.push(...feedbackOn(said).map(easyMessage));
    output.push({
      id: `msg_${row.id}_${record.turn}`,
      type: 'message',
      role: 'assistant',
      status: record.finish === 'stop' ? 'completed' : 'incomplete',
      content: [{ type: 'output_text', text: record.answer, annotations: [] }],
      prompt_token_ids: contextIds(records, record.turn),
      generation_token_ids: record.outputIds,
      generation_log_probs: row.logprobs.slice(row.turn_ends[i]! - record.outputIds.length, row.turn_ends[i]),
    });
  }
  const input = query.prompt.kind === 'messages' ? query.prompt.messages.map(easyMessage) : [];
  return {
    _ng_task_index: rollout.index,
    _ng_rollout_index: sample,
    responses_create_params: { input },
    response: {
      id: `resp_${row.id}`,
      object: 'response',
      created_at: Math.floor(rollout.birthTime / 1000),
      model: records[0]!.model,
      output,
      parallel_tool_calls: false,
      tool_choice: 'none',
      tools: [],
    },
    reward: row.reward,
    everturn: {
      id: row.id,
      group: row.group,
      turn_rewards: row.turn_rewards,
      turn_returns: row.turn_returns,
      version_start: row.version_start,
      version_end: row.version_end,
    },
  };
}

/** Responses have no tool messages of plain text: these become the user's. */
function easyMessage({ role, content }: Message): object {
  return { type: 'message', role: role === 'tool' ? 'user' : role, content };
}

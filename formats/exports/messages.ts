// Chat messages for supervised fine-tuning: each rollout that was right, up to its first right answer, one a line.
// Every assistant message says by `loss` whether it is to be trained on: wrong answers are not.

import { sampleId } from '../../domain/samples/neutral-row.ts';
import { chatOf, chatTools, withoutChat, withoutRight } from './chat.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';

export const messages: Exporter = {
  name: 'messages',
  extension: 'jsonl',
  fields: ['id', 'messages'],
  needsIds: false,
  description: 'chat messages of right rollouts, for fine-tuning (TRL, axolotl, ms-swift)',
  note:
    'messages holds text, not token ids: the trainer tokenises it again. Only ms-swift reads `loss`, which is false on ' +
    'wrong answers; for others use --format labels, or rollouts of one turn.',
  leavesOut: (trajectory) => withoutChat(trajectory) ?? withoutRight(trajectory),
  lines(trajectory) {
    const { query, sample } = trajectory.rollout;
    const chat = chatOf(trajectory);
    const { context, answer } = chat.at(-1)!;
    // The right answer, and the calls of tools that led to it.
    const first = chat.findLastIndex(({ called }, i) => i < chat.length - 1 && !called) + 1;
    const trained = new Set(chat.slice(first).map((turn) => turn.context.length));
    // Always there, also where it is true: `datasets` takes the columns of the first rows for all.
    const marked = [...context, answer].map((message, i) =>
      message.role === 'assistant' ? { ...message, loss: trained.has(i) } : message,
    );
    return [JSON.stringify({ id: sampleId(query.queryId, sample), messages: marked, ...chatTools(trajectory) })];
  },
};

// KTO: every judged answer with its context and a label, one a line, up to the first right answer of a rollout.

import { sampleId } from '../../domain/samples/neutral-row.ts';
import { chatOf, chatTools, withoutChat } from './chat.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';

export const kto: Exporter = {
  name: 'kto',
  extension: 'jsonl',
  fields: ['prompt', 'completion', 'label'],
  needsIds: false,
  description: 'prompt, completion and label of every answer (TRL KTOTrainer)',
  note: 'kto holds text, not token ids: the trainer tokenises it again.',
  leavesOut: withoutChat,
  lines(trajectory) {
    const { query, sample } = trajectory.rollout;
    const id = sampleId(query.queryId, sample);
    return chatOf(trajectory).flatMap(({ context, answer, right, called }, t) =>
      called
        ? []
        : [
            JSON.stringify({
              id,
              turn: t + 1,
              prompt: context,
              completion: [answer],
              label: right,
              ...chatTools(trajectory),
            }),
          ],
    );
  },
};

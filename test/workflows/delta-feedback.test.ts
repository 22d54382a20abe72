// `--feedback delta` through workflow, activities and store: the context of every turn is the template's text of the
// conversation, whether an answer ended by itself or was cut.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FEEDBACK_WRONG } from '../../domain/rollout/conversation.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { byteTokenizer } from '../support/scripted-model.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ answer: ({ requestId }) => (requestId.endsWith('/2') ? 'so long that it is cut' : 'five') });
  await rig.startWorker();
});
afterAll(() => rig.close());

describe('delta feedback', () => {
  test('each turn’s context is the template’s text of the conversation', async () => {
    const input: RolloutInput = {
      run: 'r',
      out: rig.out,
      row: { id: 'q', question: 'What is 2 + 2?', answer: '4' },
      settings: { feedback: 'delta', numTurns: 3, maxNewTokens: 9 },
    };
    const result = (await rig.client.workflow.execute('rollout', {
      workflowId: 'r/q/0',
      taskQueue: 'everturn',
      args: [input],
    })) as RolloutResult;
    expect(result).toMatchObject({ outcome: 'complete', turns: 3 });
    const contexts = await Promise.all(
      rig.backend.requests.map(({ contextIds }) => byteTokenizer.decode(contextIds, { skipSpecialTokens: false })),
    );
    const asked = '<start>user\nWhat is 2 + 2?<end>\n<start>assistant\n';
    const told = `<end>\n<start>user\n${FEEDBACK_WRONG}<end>\n<start>assistant\n`;
    expect(contexts).toEqual([asked, `${asked}five${told}`, `${asked}five${told}so long t${told}`]);
  });
});

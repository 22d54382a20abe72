// `--feedback delta` on the chat templates of model families: what is built turn by turn is what the template makes of
// the whole conversation; one that shows earlier answers in another form gives what stands behind them, and one that cannot
// be extended is refused before anything is generated.

import { describe, expect, test } from 'vitest';
import { newContext } from '../../domain/context/new-context.ts';
import { answersRewritten } from '../../domain/context/feedback-delta.ts';
import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../../domain/context/feedback.ts';
import type { Message, Prompt } from '../../domain/query/query.ts';
import type { RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { Finish, TurnRecord } from '../../domain/rollout/turn.ts';
import type { Tokenizer } from '../../inference/backend.ts';
import {
  EXTENDABLE,
  openFamily as open,
  REFUSED,
  REWRITING,
  type TemplateFamily,
} from '../support/template-families.ts';

const ANSWERS = ['The answer is 4.', '2 + 2 is 5,\n\nso: **5**', 'Ответ: 7 \\boxed{7}', '數 is 12'];
const user = { role: 'user', content: 'What is 2 + 2?' };
const system = { role: 'system', content: 'Answer briefly.' };
const text = (ids: readonly number[], tokenizer: Tokenizer) => tokenizer.decode(ids, { skipSpecialTokens: false });

const backendOf = (tokenizer: Tokenizer) =>
  ({ tokenizer, facts: { name: 'a model' } }) as unknown as Parameters<typeof newContext>[2];

interface Played {
  /** S_T ++ the last feedback. */
  readonly ids: readonly number[];
  readonly conversation: readonly Message[];
  readonly added: readonly string[];
}

interface Play {
  readonly prompt: Prompt;
  readonly family: TemplateFamily;
  readonly finishes: readonly Finish[];
  readonly feedback?: 'seed' | 'delta';
}

/** What activities put together, with answers whose ids are those that the whole text would have. */
async function play(tokenizer: Tokenizer, { prompt, family, finishes, feedback = 'delta' }: Play): Promise<Played> {
  const rollout = { query: { prompt }, settings: { feedback } } as RolloutRecord;
  const backend = backendOf(tokenizer);
  const first = await newContext(rollout, null, backend);
  const conversation: Message[] = prompt.kind === 'messages' ? [...prompt.messages] : [user];
  const added: string[] = [];
  let ids = first.ids;
  for (const [i, finish] of finishes.entries()) {
    const [before, after] = family.around ?? ['', ''];
    const answer = before + ANSWERS[i % ANSWERS.length]! + (finish === 'stop' ? after + family.special[0]! : '');
    const outputIds = await answerIds(tokenizer, tokenizer.renderChat(conversation), answer);
    const turn = { turn: i + 1, outputIds, finish } as unknown as TurnRecord;
    const verdict = { verdict: i % 2 === 0 ? 'wrong' : 'right' } as VerdictRecord;
    const next = await newContext(rollout, { turn, verdict }, backend);
    ids = [...ids, ...outputIds, ...next.ids];
    added.push(next.text);
    conversation.push(
      { role: 'assistant', content: ANSWERS[i % ANSWERS.length]! },
      { role: 'user', content: i % 2 === 0 ? FEEDBACK_WRONG : FEEDBACK_RIGHT },
    );
  }
  return { ids, conversation, added };
}

/** As a model has them that writes what the template would: behind the generation prompt. */
async function answerIds(tokenizer: Tokenizer, before: string, answer: string): Promise<number[]> {
  const head = await tokenizer.encodeRendered(before);
  return (await tokenizer.encodeRendered(before + answer)).slice(head.length);
}

describe.each(Object.entries(EXTENDABLE))('%s', (name, family) => {
  const openings = family.system === false ? [[user]] : [[user], [system, user]];
  const finishes: Finish[][] = [
    ['stop', 'stop', 'stop', 'stop'],
    ['length', 'stop', 'abort', 'length'],
  ];

  test('four turns are what the template makes of the whole conversation', async () => {
    const tokenizer = await open(name, family);
    for (const messages of openings) {
      for (const ends of finishes) {
        const prompt = { kind: 'messages', messages } as const;
        const { ids, conversation } = await play(tokenizer, { prompt, family, finishes: ends });
        const whole = await tokenizer.encodeChat(conversation);
        expect(await text(ids, tokenizer)).toBe(await text(whole, tokenizer));
        expect(ids).toEqual(whole);
      }
    }
  });
});

const CHATML = { tokenizer: 'qwen', special: ['<|im_end|>', '<|im_start|>', '<|endoftext|>'] } as const;
const asked: Prompt = { kind: 'messages', messages: [user] };

describe('feedback as a delta', () => {
  test('neither a default system prompt nor a second BOS comes back, as they do in the original', async () => {
    const family = EXTENDABLE['qwen2.5']!;
    const tokenizer = await open('qwen2.5', family);
    const seed = await play(tokenizer, { prompt: asked, family, finishes: ['stop'], feedback: 'seed' });
    expect(seed.added[0]).toContain('You are Qwen');
    const { added } = await play(tokenizer, { prompt: asked, family, finishes: ['stop'] });
    expect(added).toEqual([`\n<|im_start|>user\n${FEEDBACK_WRONG}<|im_end|>\n<|im_start|>assistant\n`]);
  });

  test('an answer that was cut is closed as the template closes it', async () => {
    const tokenizer = await open('chatml', CHATML);
    const { added } = await play(tokenizer, { prompt: asked, family: CHATML, finishes: ['length'] });
    expect(added).toEqual([`<|im_end|>\n<|im_start|>user\n${FEEDBACK_WRONG}<|im_end|>\n<|im_start|>assistant\n`]);
  });

  test('an answer that ended with another stop token keeps it, and is closed as well', async () => {
    const tokenizer = await open('chatml', CHATML);
    const family = { ...CHATML, special: ['<|endoftext|>'] };
    const { ids, added } = await play(tokenizer, { prompt: asked, family, finishes: ['stop'] });
    expect(added[0]).toMatch(/^<\|im_end\|>\n<\|im_start\|>user\n/);
    expect(await text(ids, tokenizer)).toContain('is 4.<|endoftext|><|im_end|>\n<|im_start|>user');
  });

  test('the model’s own ids stay as they are, also where its text would be tokenised otherwise', async () => {
    const tokenizer = await open('chatml', CHATML);
    const [stop] = await tokenizer.encodeRendered('<|im_end|>');
    // letter by letter
    const apart = (await Promise.all([...'and contents'].map((letter) => tokenizer.encodeRendered(letter)))).flat();
    const outputIds = [...apart, stop!];
    expect(await tokenizer.encodeRendered(await text(outputIds, tokenizer))).not.toEqual(outputIds);
    const rollout = { query: { prompt: asked }, settings: { feedback: 'delta' } } as RolloutRecord;
    const turn = { turn: 1, outputIds, finish: 'stop' } as unknown as TurnRecord;
    const backend = backendOf(tokenizer);
    const added = await newContext(rollout, { turn, verdict: { verdict: 'right' } as VerdictRecord }, backend);
    expect(added.text).toBe(`\n<|im_start|>user\n${FEEDBACK_RIGHT}<|im_end|>\n<|im_start|>assistant\n`);
    expect(await text(added.ids, tokenizer)).toBe(added.text);
  });

  test('a prompt that is plain text is followed by what follows the answer to one user message', async () => {
    const tokenizer = await open('chatml', CHATML);
    const prompt = { kind: 'text', text: 'Q: 2 + 2?\nA:' } as const;
    const { ids, added } = await play(tokenizer, { prompt, family: CHATML, finishes: ['stop'] });
    expect(await text(ids, tokenizer)).toBe(`${prompt.text}${ANSWERS[0]}<|im_end|>${added[0]}`);
    expect(added).toEqual([`\n<|im_start|>user\n${FEEDBACK_WRONG}<|im_end|>\n<|im_start|>assistant\n`]);
  });
});

describe.each(Object.entries(REWRITING))('%s', (name, { family, says, line, adds, variables, addsWithVariables }) => {
  const answer = '<think>\nOne and one.\n</think>\n\nThe answer is 4.';

  test('keeps the sampled ids, thoughts included, and adds what stands behind an answer', async () => {
    const tokenizer = await open(name, family);
    for (const [chatTemplateKwargs, expected] of [
      [undefined, adds],
      ...(variables ? ([[variables, addsWithVariables!]] as const) : []),
    ] as const) {
      const query = { prompt: asked, ...(chatTemplateKwargs && { chatTemplateKwargs }) };
      const rollout = { query, settings: { feedback: 'delta' } } as RolloutRecord;
      for (const [i, ends] of ['', family.special[0]!].entries()) {
        const outputIds = await tokenizer.encodeRendered(answer + ends);
        const turn = { turn: i + 1, outputIds, finish: ends ? 'stop' : 'length' } as unknown as TurnRecord;
        const earlier = { turn, verdict: { verdict: 'wrong' } as VerdictRecord };
        const added = await newContext(rollout, earlier, backendOf(tokenizer));
        const whole = expected.replace('{feedback}', FEEDBACK_WRONG);
        expect(added.text).toBe(ends && whole.startsWith(ends) ? whole.slice(ends.length) : whole);
        expect(await text(added.ids, tokenizer)).toBe(added.text);
      }
    }
  });

  test('is named with what it does to earlier answers', async () => {
    const tokenizer = await open(name, family);
    const template = { name, text: tokenizer.chatTemplate()!, render: tokenizer.renderChat };
    const found = answersRewritten(template, [user]);
    expect(found).toContain(says);
    expect(found).toContain(line);
  });
});

describe.each(Object.entries(REFUSED))('%s', (name, { family, messages = [user], says, line }) => {
  test('is refused before its first turn, with the reason and the template’s line', async () => {
    const tokenizer = await open(name, family);
    const attempt = play(tokenizer, { prompt: { kind: 'messages', messages }, family, finishes: ['stop'] });
    await expect(attempt).rejects.toMatchObject({ name: 'ModelError', reason: 'feedback-delta', retryable: false });
    const message = await attempt.catch((error: Error) => error.message);
    expect(message).toContain(says);
    expect(message).toContain(line);
  });
});

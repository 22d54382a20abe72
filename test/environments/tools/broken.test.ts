// Answers that hold no call, or a broken one: the sentence for the model, what is kept as text, what is thinking, and
// that no answer cut short ever gives a call that was not written.

import { describe, expect, test } from 'vitest';
import { isBad, toolFormatNamed } from '../../../environments/tools/formats/format.ts';
import { ANSWERS, TOOLS } from '../../support/broken-answers.ts';
import { someTask } from '../../support/meant-calls.ts';
import { randomSource } from '../../support/texts.ts';
import { openToolFamily, TOOL_FAMILIES } from '../../support/tool-families.ts';

const BEGIN = '<｜tool▁calls▁begin｜>';
const CALL = '<｜tool▁call▁begin｜>';
const SEP = '<｜tool▁sep｜>';
const END = '<｜tool▁call▁end｜>';
const FINISH = '<｜tool▁calls▁end｜>';

function read(format: string, text: string) {
  const { content, thinking, calls } = toolFormatNamed(format)!.parse(text, TOOLS);
  const shown = calls.map((call) =>
    isBad(call)
      ? /^This call was not run: (?:its JSON is broken: )?(.*)\. Write a call as /s.exec(call.error)![1]!
      : [call.name, call.arguments],
  );
  return { content, thinking, calls: shown };
}

describe('an answer', () => {
  test.each(ANSWERS)('of $format: $text', ({ format, text, calls, content }) => {
    expect(read(format, text)).toMatchObject({ calls, content });
  });

  test.each([
    [
      'hermes',
      '<think>\nI could <tool_call>{"name": "f"}</tool_call>\n</think>\n\n<tool_call>{"name": "f"}</tool_call>',
    ],
    ['hermes', 'I could.\n</think>\n<tool_call>{"name": "f"}</tool_call>'],
    ['qwen3-coder', '<think>I could <function=f></function></think><tool_call><function=f></function></tool_call>'],
    ['glm', '\n<think>I could <tool_call>f</tool_call></think>\n<tool_call>f</tool_call>'],
    ['deepseek', `I could</think>${BEGIN}${CALL}f${SEP}{}${END}${FINISH}`],
    ['mistral', '[THINK]I could [TOOL_CALLS]f{}[/THINK][TOOL_CALLS]f{}'],
    [
      'gpt-oss',
      '<|channel|>analysis<|message|>I could {"name": "f"}<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>',
    ],
  ])('of %s holds no call inside its thinking', (format, text) => {
    const reply = read(format, text);
    expect(reply).toMatchObject({ content: '', calls: [['f', {}]] });
    expect(reply.thinking).toMatch(/^I could/);
  });

  test('that asks Mistral for an id has one of nine letters and digits, the same each time', () => {
    const parse = (text: string) => toolFormatNamed('mistral')!.parse(text, TOOLS).calls;
    const ids = parse('[TOOL_CALLS]f{}[TOOL_CALLS]f{}[TOOL_CALLS]f[CALL_ID]abcdefgh1[ARGS]{}').map(
      (call) => !isBad(call) && call.id,
    );
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{9}$/), expect.stringMatching(/^[0-9a-f]{9}$/), 'abcdefgh1']);
    expect(new Set(ids).size).toBe(3);
    const [broken] = parse('[TOOL_CALLS]f{');
    expect(toolFormatNamed('mistral')!.resultMessage(broken!, 'No.')).toMatchObject({
      role: 'tool',
      name: 'f',
      tool_call_id: expect.stringMatching(/^[0-9a-f]{9}$/) as string,
    });
  });
});

describe.each(Object.keys(TOOL_FAMILIES))('%s', (name) => {
  test('cut short anywhere, an answer gives calls that it holds whole, and no others', async () => {
    const family = await openToolFamily(name);
    const random = randomSource(7);
    for (let seen = 0; seen < 24;) {
      const { tools, calls } = someTask(random, family);
      seen += calls.length;
      const answer = family.written(calls, tools);
      for (let cuts = 0; cuts < 20; cuts++) {
        const { calls: found } = family.format.parse(answer.slice(0, random(answer.length)), tools);
        const good = found.flatMap((call) => (isBad(call) ? [] : [{ name: call.name, arguments: call.arguments }]));
        expect(good, answer).toEqual(calls.slice(0, good.length));
        // Only the last one can be broken.
        expect(found.slice(0, -1).every((call) => !isBad(call))).toBe(true);
      }
    }
  });
});

// The calls in a reply of the loop: thinking that the prompt has opened goes before it, and what cannot be run says why.

import { describe, expect, test } from 'vitest';
import { callsInReply } from '../../../domain/rollout/calls.ts';
import { refusalOf } from '../../../domain/errors/refusals.ts';
import type { ToolRecord, ToolSettings } from '../../../domain/tools/tool.ts';
import { toolFormatNames } from '../../../environments/tools/formats/format.ts';
import { createTools } from '../../../environments/tools/index.ts';

const add: ToolRecord = {
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
  effect: 'pure',
  timeoutSeconds: 1,
  door: 'python',
  spec: [],
  fingerprint: '',
};
const settings = (format: string): ToolSettings => ({ format, list: [add], maxCalls: 8, outputBytes: 100 });
const callsIn = (text: string, prompt = '') => createTools({}).callsIn(text, prompt, settings('hermes'));
const CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';

describe('the calls in a reply', () => {
  test('are none inside thinking that the prompt has opened', () => {
    const text = `I could ${CALL} but no.</think>Four.`;
    expect(callsIn(text, '<|im_start|>assistant\n<think>\n')).toEqual([]);
    expect(callsIn(`No.</think>${CALL}`, '<|im_start|>assistant\n<think>\n')).toHaveLength(1);
  });

  test('have the fault of a broken one, of an unknown tool and of arguments that do not fit', () => {
    const faults = [CALL.replace('}}', '}'), CALL.replace('add', 'sub'), CALL.replace('1', '"1"')].map(
      (text) => callsIn(text)[0]!.error,
    );
    expect(faults).toEqual([
      expect.stringContaining('its JSON is broken: a comma or } is missing'),
      expect.stringContaining('There is no tool "sub"'),
      expect.stringContaining('The call of add was not run'),
    ]);
  });

  test('that are not run have a reason, which is read out of what the model is told', () => {
    const deep = `{"a": ${'['.repeat(80)}${']'.repeat(80)}}`;
    const reasons = [
      CALL.replace('}}', '}'),
      '<tool_call>{"name": "add"',
      CALL.replace('add', 'The call of'),
      CALL.replace('1', '"1"'),
      CALL.replace('{"a": 1}', deep),
      CALL.repeat(9),
    ].map((text) => refusalOf(callsIn(text).at(-1)!.error!));
    expect(reasons).toEqual([
      ...['unreadable', 'unreadable', 'unknown-tool', 'bad-arguments', 'bad-arguments', 'too-many'],
    ]);
    const typed = '<tool_call>\n<function=add>\n<parameter=a>\none\n</parameter>\n</function>\n</tool_call>';
    expect(
      createTools({})
        .callsIn(typed, '', settings('qwen3-coder'))
        .map(({ error }) => refusalOf(error!)),
    ).toEqual(['bad-arguments']);
    const turn = { contextText: '', outputText: CALL, finish: 'stop' as const };
    const before = [{ calls: callsIn(CALL.repeat(7)) }];
    const tools = settings('hermes');
    const over = callsInReply({ ...turn, outputText: CALL.repeat(2) }, before, { tools }, createTools({}), []);
    expect(over!.map(({ error }) => error && refusalOf(error))).toEqual([undefined, 'too-many']);
  });

  test.each(toolFormatNames)('of %s have a result also if they are broken', (format) => {
    const broken = { name: null, arguments: null, id: null, raw: 'x', error: 'No.' };
    expect(createTools({}).resultMessage(broken, 'No.', settings(format))).toMatchObject({
      role: 'tool',
      content: 'No.',
    });
  });
});

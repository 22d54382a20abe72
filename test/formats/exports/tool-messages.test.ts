// Chats of a run with tools, as a trainer renders them: the tools that the model was shown beside the messages, and the
// arguments of each call as the object that a chat template takes.

import { Template } from '@huggingface/jinja';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import type { VerdictValue } from '../../../domain/rollout/verdict.ts';
import { exporterNamed } from '../../../formats/exports/index.ts';
import { pairLines } from '../../../formats/exports/dpo.ts';
import { playedCalls } from './played-calls.ts';

let played: Trajectory;
beforeAll(async () => void (played = await playedCalls()));

/** Turns of an endpoint: calls with these arguments, and an answer. */
function trajectoryOf(given: readonly string[], verdict: VerdictValue = 'right'): Trajectory {
  const [first] = played.turns;
  const turn = (answer: string, part: object, said: VerdictValue, messages?: object) => ({
    record: { ...first!.record, answer, ...part },
    verdict: { ...first!.verdict!, verdict: said, ...messages },
  });
  const toolCalls = given.map((text, i) => ({ id: `c${i}`, name: 'price', arguments: text }));
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({ id, name, arguments: '{}', raw: text }));
  const results = toolCalls.map(({ id }) => ({ role: 'tool', content: '3', tool_call_id: id }));
  const { calls: _, ...plain } = first!.record;
  const turns = [
    turn('', { calls, toolCalls }, 'called', { messages: results }),
    { ...turn('', {}, verdict), record: { ...plain, answer: `answer ${verdict}`, turn: 2 } },
  ];
  return { ...played, turns } as Trajectory;
}
interface Line {
  readonly tools: readonly { readonly type: string; readonly function: { readonly name: string } }[];
  readonly messages: readonly {
    readonly tool_calls?: readonly { readonly function: { readonly arguments: unknown } }[];
  }[];
}
const lineOf = (format: string, trajectory: Trajectory) =>
  JSON.parse(exporterNamed(format).lines(trajectory).at(-1)!) as Line;
const argumentsIn = (text: string) => lineOf('messages', trajectoryOf([text])).messages[1]!.tool_calls![0]!.function;

describe('a line of messages', () => {
  test('has the tools as the model was shown them, beside its messages', () => {
    const { tools } = lineOf('messages', trajectoryOf(['{}']));
    const { list } = played.rollout.settings.tools!;
    expect(list.length).toBeGreaterThan(1);
    expect(tools).toEqual(
      list.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    );
  });

  test('has none in a run without tools', () => {
    const { tools: _, ...settings } = played.rollout.settings;
    const without = { ...trajectoryOf(['{}']), rollout: { ...played.rollout, settings } };
    for (const format of ['messages', 'kto']) expect(lineOf(format, without)).not.toHaveProperty('tools');
  });

  test.each([
    ['{"fruit": "apple"}', { fruit: 'apple' }],
    ['{"n": [1, {"deep": null}], "é": 0.5}', { n: [1, { deep: null }], é: 0.5 }],
    ['{}', {}],
    ['', {}],
    [' \n', {}],
  ])('has the arguments %j as an object', (text, value) => {
    expect(argumentsIn(text)).toEqual({ name: 'price', arguments: value });
  });

  test.each([
    ['{"fruit": "app'],
    ['apple'],
    ['[1]'],
    ['"{}"'],
    ['null'],
    ['{"a": 1, "a": 2}'],
    ['{"id": 12345678901234567890}'],
    [`{"a": ${'['.repeat(300)}${']'.repeat(300)}}`],
  ])('has the arguments %j, of which no object is the same, as the text that the model wrote', (text) => {
    expect(argumentsIn(text)).toEqual({ name: 'price', arguments: text });
  });

  test('shows a call in a template once encoded', () => {
    const template = new Template(
      '{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.name }} {{ c.function.arguments | tojson }}\n' +
        '{% for k, v in c.function.arguments | items %}{{ k }}={{ v }};{% endfor %}{% endfor %}{% endfor %}' +
        '{% for t in tools %} {{ t.function.name }}{% endfor %}',
    );
    const { messages, tools } = lineOf('messages', trajectoryOf(['{"fruit":"apple"}']));
    const names = played.rollout.settings.tools!.list.map(({ name }) => name);
    expect(template.render({ messages, tools })).toBe(`price {"fruit": "apple"}\nfruit=apple; ${names.join(' ')}`);
  });
});

describe.each([
  ['kto', () => exporterNamed('kto').lines(trajectoryOf(['{"fruit":"fig"}']))],
  ['dpo', () => pairLines([trajectoryOf(['{"fruit":"fig"}']), trajectoryOf(['{"fruit":"fig"}'], 'wrong')])],
])('a line of %s', (_, linesOf) => {
  test('has the same tools and objects', () => {
    const [line] = linesOf().map((text) => JSON.parse(text) as { prompt: Line['messages']; tools: unknown });
    expect(line!.tools).toEqual(lineOf('messages', trajectoryOf(['{}'])).tools);
    expect(line!.prompt[1]!.tool_calls![0]!.function.arguments).toEqual({ fruit: 'fig' });
  });
});

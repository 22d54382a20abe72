// Calls that the families' own templates write are read as they were meant, through the ids of a tokenizer.

import { describe, expect, test } from 'vitest';
import { detectToolFormat, isBad, type ParsedReply } from '../../../environments/tools/formats/format.ts';
import { someTask } from '../../support/meant-calls.ts';
import { randomSource } from '../../support/texts.ts';
import { ASKED, openToolFamily, TOOL_FAMILIES, toolTemplate, type Meant } from '../../support/tool-families.ts';

const CALLS = 60;

/** Calls as they were meant, and the sentences about broken ones. */
const read = ({ calls }: ParsedReply) =>
  calls.map((call) => (isBad(call) ? call.error : { name: call.name, arguments: call.arguments }));

describe.each(Object.keys(TOOL_FAMILIES))('%s', (name) => {
  test(`${CALLS} generated calls are read as they were meant`, async () => {
    const family = await openToolFamily(name);
    const random = randomSource(20261122);
    for (let seen = 0; seen < CALLS;) {
      const { tools, calls } = someTask(random, family);
      seen += calls.length;
      const answer = family.written(calls, tools) + (random(2) ? family.stop : '');
      const text = await family.throughIds(family.render(ASKED, tools), answer);
      expect(text).toBe(answer);
      const reply = family.format.parse(text, tools);
      expect(read(reply), JSON.stringify({ seen, answer })).toEqual(meant(calls));
      expect(reply.content).toBe('');
      for (const { raw } of reply.calls) expect(answer).toContain(raw);
    }
  });

  test('its template is recognised', async () => {
    const { template, format } = await openToolFamily(name);
    expect(detectToolFormat(template)).toBe(format.name);
  });
});

describe('a template of no known format', () => {
  test.each(['aya', 'chatml', 'gemma-2', 'gemma-3', 'lfm2', 'llama-2', 'llama-3', 'mistral-0.3', 'phi-3.5', 'zephyr'])(
    '%s is not taken for one',
    (name) => expect(detectToolFormat(toolTemplate(name))).toBeNull(),
  );
});

function meant(calls: readonly Meant[]) {
  return calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
}

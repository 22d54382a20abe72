// Markers of calls by token ids: a quoted marker opens no call, and nothing of a real call is lost.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsInReply } from '../../domain/rollout/calls.ts';
import { spelledMarkers } from '../../domain/tools/spelled-markers.ts';
import type { ToolSettings } from '../../domain/tools/tool.ts';
import { createTools } from '../../environments/tools/index.ts';

const OPEN = '<tool_call>';
const ID = 70_000;
const markers = [{ text: OPEN, id: ID }];
/** Characters as tokens, and one token for the marker. */
const decode = async (ids: readonly number[]) => ids.map((id) => (id === ID ? OPEN : String.fromCharCode(id))).join('');
const spelled = (text: string): number[] => [...text].map((char) => char.charCodeAt(0));
const call = (name: string, given: object) => JSON.stringify({ name, arguments: given });
const TOOLS: ToolSettings = {
  format: 'hermes',
  list: [
    {
      ...{ name: 'say', description: '', effect: 'pure', timeoutSeconds: 1, door: 'module', spec: ['x'] },
      parameters: { type: 'object' },
      fingerprint: '0'.repeat(64),
    },
  ],
  maxCalls: 8,
  outputBytes: 1000,
  markers,
};
const texts = createTools({});

async function callsIn(outputIds: readonly number[]) {
  const outputText = await decode(outputIds);
  const places = (await spelledMarkers({ outputIds, outputText }, markers, decode))!;
  return callsInReply({ contextText: '', outputText, finish: 'stop' }, [], { tools: TOOLS }, texts, places);
}

describe('a marker of calls', () => {
  test('opens a call where it is a token, and none where ordinary tokens spell it', async () => {
    const body = `${call('say', { a: 1 })}</tool_call>`;
    expect(await callsIn([ID, ...spelled(body)])).toMatchObject([{ name: 'say', arguments: '{"a":1}' }]);
    expect(await callsIn(spelled(OPEN + body))).toBeUndefined();
  });

  test('that is quoted beside or within real calls changes nothing of them', async () => {
    const part = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: fc.string({ maxLength: 8 }) }),
      fc.record({ kind: fc.constant('quoted' as const), text: fc.string({ maxLength: 8 }) }),
      fc.record({ kind: fc.constant('call' as const), text: fc.string({ maxLength: 8 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 7 }), async (parts) => {
        const wanted: string[] = [];
        const ids = parts.flatMap(({ kind, text }) => {
          // What could be a marker by itself is another test's.
          const safe = text.replaceAll(/[<>]/g, '');
          if (kind === 'text') return spelled(safe);
          const given = { said: kind === 'call' ? `${safe} ${OPEN} and ${OPEN}{` : safe };
          const body = spelled(`${call('say', given)}</tool_call>`);
          if (kind === 'quoted') return [...spelled(OPEN), ...body];
          wanted.push(JSON.stringify(given));
          return [ID, ...body];
        });
        const found = (await callsIn(ids)) ?? [];
        expect(found.map((one) => one.arguments)).toEqual(wanted);
        expect(found.filter(({ error }) => error !== undefined)).toEqual([]);
        const whole = await decode(ids);
        for (const { raw } of found) expect(whole).toContain(raw);
      }),
      { numRuns: 300 },
    );
  });

  test('is left to the tokenizer where counts differ and there is none', async () => {
    const outputIds = [...spelled(`${OPEN} `), ID];
    const outputText = await decode(outputIds);
    expect(await spelledMarkers({ outputIds, outputText }, markers)).toBeNull();
    expect(await spelledMarkers({ outputIds, outputText }, markers, decode)).toEqual([0]);
    expect(await spelledMarkers({ outputIds: [ID], outputText: OPEN }, markers)).toEqual([]);
  });
});

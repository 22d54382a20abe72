// Every export format of a run whose model called tools: a token of a result is context, and never trained on.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { neutralRow } from '../../domain/rollout/neutral-row.ts';
import { EXPORTERS, exporterNamed } from '../../formats/exports/index.ts';
import { microBatch } from '../../formats/exports/prime-rl.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { byteTokenizer } from '../support/scripted-model.ts';
import { callText } from '../support/tool-chat.ts';
import { openToolRuns, SECRET, type ToolRuns } from '../support/tool-runs.ts';

let runs: ToolRuns;
beforeAll(async () => {
  runs = await openToolRuns({
    says: (_, turn) => [callText('long', {}), 'It is \\boxed{7}.'][turn - 1] ?? '\\boxed{7}',
  });
});
afterAll(() => runs.close());

describe('an export of a run with tools', () => {
  test('lets no token of a result carry loss, in any format', async () => {
    const { store, of } = await runs.play('export', ['long', 'calls'], { numTurns: 1 });
    for (const format of EXPORTERS) {
      const file = join(runs.out, `export.${format.name}`);
      await exportRun(store, exporterNamed(format.name), file, {});
      // Pairs need a wrong answer.
      if (format.name !== 'dpo') expect(readFileSync(file).length, format.name).toBeGreaterThan(0);
    }
    const lines = <T>(name: string) =>
      readFileSync(join(runs.out, `export.${name}`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as T);
    const played = await of('long');
    const result = await byteTokenizer.encode(SECRET);
    const trained = (ids: readonly number[], mask: readonly boolean[]) => ids.filter((_, i) => mask[i]);
    const holds = (ids: readonly number[], part: readonly number[]) => ids.join(',').includes(part.join(','));
    const outputs = played.turns.flatMap(({ record }) => record.outputIds);
    expect(played.turns[1]!.record.contextText).toContain(SECRET);

    const [areal] = lines<{ data: { packed_input_ids: number[]; prompt_mask: boolean[] } }>('areal');
    const { packed_input_ids: packed, prompt_mask: prompt } = areal!.data;
    expect(holds(packed, result)).toBe(true);
    expect(
      trained(
        packed,
        prompt.map((one) => !one),
      ),
    ).toEqual(outputs);

    const row = neutralRow(played);
    expect(holds(row.response_ids, result)).toBe(true);
    expect(
      trained(
        row.response_ids,
        row.response_mask.map((one) => one === 1),
      ),
    ).toEqual(outputs);

    const [ids, mask] = microBatch(row);
    expect(holds(ids, result)).toBe(true);
    expect(trained(ids, mask)).toEqual(outputs);

    const [episode] = lines<{ traces: { nodes: { token_ids: number[]; mask: boolean[] }[] }[] }>('verifiers');
    const { nodes } = episode!.traces[0]!;
    expect(
      holds(
        nodes.flatMap((node) => node.token_ids),
        result,
      ),
    ).toBe(true);
    expect(nodes.flatMap((node) => trained(node.token_ids, node.mask))).toEqual(outputs);

    const [tinker] = lines<object>('tinker');
    expect(JSON.stringify(tinker)).toContain(result.join(','));

    const [nemo] = lines<{ response: { output: { generation_token_ids?: number[] }[] } }>('nemo-gym');
    expect(nemo!.response.output.flatMap((item) => item.generation_token_ids ?? [])).toEqual(outputs);

    const [chat] = lines<{ messages: { role: string; content: string; loss?: boolean }[] }>('messages');
    expect(chat!.messages.map(({ role, loss }) => [role, loss])).toEqual([
      ['user', undefined],
      ['assistant', true],
      ['tool', undefined],
      ['assistant', true],
    ]);
    for (const { completion } of lines<{ completion: { content: string }[] }>('kto'))
      expect(completion[0]!.content).not.toContain('<tool_call>');
  });
});

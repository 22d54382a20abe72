// A run whose model calls tools, with workflows, a worker and a model that is a script: what it calls is run, recorded once,
// and told to it in the next context; no token of a result carries loss in any format; and a tool that must not be called
// twice is not, whatever is tried again.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completeSettings } from '../../domain/defaults.ts';
import { ToolError } from '../../domain/errors.ts';
import type { CollectionResult } from '../../domain/messages.ts';
import type { RolloutSettings } from '../../domain/settings.ts';
import type { ToolRecord, ToolSettings } from '../../domain/tool.ts';
import type { Trajectory } from '../../domain/trajectory.ts';
import { EXPORTERS, exporterNamed } from '../../exporters/index.ts';
import { microBatch } from '../../exporters/prime-rl.ts';
import { neutralRow } from '../../domain/neutral-row.ts';
import { checkRun } from '../../proof/check.ts';
import { createRun } from '../../run/create-run.ts';
import { surveyDataset } from '../../run/survey.ts';
import { putCode } from '../../storage/code.ts';
import { exportRun } from '../../storage/export-run.ts';
import { openFileStore } from '../../storage/files.ts';
import { readTrajectory } from '../../storage/trajectories.ts';
import { describeTools } from '../../tools/describe.ts';
import { openTools } from '../../tools/open.ts';
import type { Tools } from '../../tools/tool.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { byteTokenizer, scriptedBackend } from '../support/scripted-model.ts';
import { callText, withTools } from '../support/tool-chat.ts';

const SHOP = join(import.meta.dirname, '../../examples/tools/shop.ts');
const SERVER = `node ${join(import.meta.dirname, '../tools/mcp-server.mjs')}`;
const SECRET = 'RESULT-OF-A-TOOL';

/** By query and turn. */
const SAYS: Record<string, readonly string[]> = {
  calls: [
    `Let me see.\n${callText('price', { fruit: 'apple' })}\n${callText('price', { fruit: 'pear' })}`,
    callText('add', { a: 3, b: 4 }),
    'It is \\boxed{7}.',
    'Again: \\boxed{8}.',
  ],
  bad: [
    `<tool_call>{"name": "price", </tool_call>${callText('prize', {})}${callText('price', { fruit: 'fig' })}${callText('price', {})}`,
    '\\boxed{7}',
    callText('price', { fruit: 'plum' }),
    '\\boxed{7}',
  ],
  endless: Array.from({ length: 9 }, () => callText('price', { fruit: 'plum' })),
  order: [callText('order', { fruit: 'plum', count: 2 }), '\\boxed{7}', '\\boxed{7}'],
  long: [callText('long', {}), '\\boxed{7}', '\\boxed{7}'],
};

let rig: Rig;
let tools: Tools;
let list: readonly ToolRecord[];
let orders: string[];
let shop: ReturnType<typeof createServer>;
const LONG: ToolRecord = {
  name: 'long',
  description: 'Gives much.',
  parameters: { type: 'object' },
  effect: 'pure',
  timeoutSeconds: 5,
  door: 'python',
  spec: ['python'],
  fingerprint: '0'.repeat(64),
};

beforeAll(async () => {
  orders = [];
  shop = createServer((request, response) => {
    orders.push(String(request.headers['idempotency-key']));
    response.end('ok');
  });
  await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', resolve));
  process.env['ENVIRONMENT_SHOP'] = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  const open = openTools({ code: undefined, log: () => undefined, permitted: ({ spec }) => spec });
  tools = {
    ...open,
    call: (tool, call, folder) =>
      tool.name === 'long'
        ? call.before().then(() => ({ text: `${SECRET}${'é'.repeat(3000)}END`, outcome: 'ok' as const }))
        : open.call(tool, call, folder),
  };
  const backend = withTools(
    scriptedBackend({
      answer({ requestId }) {
        const [, query, , turn] = requestId.split('/');
        return SAYS[query!.split('-')[0]!]![Number(turn) - 1] ?? 'no more';
      },
    }),
  );
  rig = await openRig({ answer: () => '' }, { tools, backend: async () => backend });
  await rig.startWorker();
  const described = await describeTools(
    { tool: [SHOP], mcp: [SERVER], toolTimeoutSeconds: null },
    rig.out,
    () => undefined,
  );
  list = [...described.list, LONG];
  codes = described.codes;
});
let codes: Awaited<ReturnType<typeof describeTools>>['codes'];
afterAll(async () => {
  await rig.close();
  await tools.close();
  shop.close();
});

async function play(
  run: string,
  ids: readonly string[],
  more: Partial<RolloutSettings> = {},
  limits: Partial<ToolSettings> = {},
) {
  const dataset = join(rig.out, `${run}.jsonl`);
  const rows = ids.map((id) => ({ id, question: `What costs it? ${id}`, answer: '7' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const survey = await surveyDataset({ dataset, limit: null, shuffleSeed: null });
  const store = openFileStore(rig.out, run);
  const own = { format: 'hermes', list, maxCalls: 4, outputBytes: 1000, ...limits };
  const settings = { ...completeSettings(run, { seed: 7, numTurns: 2, ...more }), tools: own };
  await createRun(store, { run, survey, settings, samples: 1, origins: {} });
  for (const code of codes) await putCode(store.folder, code);
  const handle = await rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out: rig.out }],
  });
  const result = (await handle.result()) as CollectionResult;
  return {
    store,
    result,
    of: async (query: string) => (await readTrajectory(store, { run, query, sample: 0, attempt: 1 }))!,
  };
}

const tokenizer = {
  ...withTools(scriptedBackend({ answer: () => '' })).tokenizer,
  name: 'the test’s tokenizer',
  stopTokenIds: [256],
};
async function breaches(run: string): Promise<string[]> {
  const found: string[] = [];
  await checkRun(openFileStore(rig.out, run), ({ path, problem }) => found.push(`${path} ${problem}`), { tokenizer });
  return found;
}
const verdicts = ({ turns }: Trajectory) => turns.map(({ verdict }) => `${verdict!.verdict} ${verdict!.reason}`);

describe('a rollout that calls tools', () => {
  test('goes on with their results, appended to what was there, and counts answers alone as turns', async () => {
    const { result, of } = await play('plain', ['calls'], { turnDiscount: 0.5, feedback: 'delta' });
    const played = await of('calls');
    expect(verdicts(played)).toEqual(['called tools', 'called tools', 'right equal', 'wrong different']);
    expect(played.end).toMatchObject({
      outcome: 'complete',
      stopReason: 'max-turns',
      called: [1, 2],
      turnRewards: [0, 0, 1, -1],
    });
    // The answer's return is handed on to the calls that led to it, and not discounted.
    expect(played.end!.rewards).toEqual([0.5, 0.5, 0.5, -1]);
    expect(played.turns[1]!.record.contextText).toBe('\n<start>tool\n3<end>\n<start>tool\n4<end>\n<start>assistant\n');
    expect(played.turns[2]!.record.contextText).toContain('7 for plain/calls/0/1/2/1');
    expect(played.turns[0]!.verdict!.calls).toMatchObject([
      { name: 'price', arguments: '{"fruit":"apple"}', outcome: 'ok', effect: 'pure', output: '3' },
      { name: 'price', arguments: '{"fruit":"pear"}', outcome: 'ok', effect: 'pure', output: '4' },
    ]);
    expect(result.counts).toMatchObject({ judgedAt: [1, 1], rightAt: [1, 0], turns: 4 });
    expect(await breaches('plain')).toEqual([]);
  });

  test('is told what is wrong with a call that cannot be run', async () => {
    const { of } = await play('wrong', ['bad'], { numTurns: 2 });
    const { turns, end } = await of('bad');
    expect(end!.outcome).toBe('complete');
    const [json, unknown, value, missing] = turns[0]!.verdict!.calls!;
    expect(json).toMatchObject({
      outcome: 'refused',
      effect: null,
      of: null,
      output: expect.stringContaining('JSON') as string,
    });
    expect(unknown!.output).toContain(
      'There is no tool "prize". The tools are: price, order, add, wait, fail, die, long.',
    );
    expect(value!.output).toContain('`fruit` does not fit');
    expect(missing!.output).toContain('`fruit` does not fit');
    expect(turns[1]!.record.contextText).toContain('There is no tool "prize"');
    expect(verdicts({ turns } as unknown as Trajectory)).toEqual([
      'called tools',
      'right equal',
      'called tools',
      'right equal',
    ]);
    expect(await breaches('wrong')).toEqual([]);
  });

  test('that only calls is told that its calls are used up, and then judged as it stands', async () => {
    const { of } = await play('limit', ['endless'], { numTurns: 1 });
    const { turns, end } = await of('endless');
    expect(turns).toHaveLength(5);
    expect(turns[4]!.record.contextText).toContain('No further call is run before your answer');
    expect(turns[4]!.verdict).toMatchObject({ verdict: 'wrong' });
    expect(end).toMatchObject({ outcome: 'complete', called: [1, 2, 3, 4], rewards: [-1, -1, -1, -1, -1] });
    expect(await breaches('limit')).toEqual([]);
  });

  test('whose results leave no room for an answer is wrong, and not without a reward', async () => {
    const small = withTools(scriptedBackend({ answer: () => callText('long', {}), contextLength: 3600 }));
    const before = rig.backend.facts.contextLength;
    expect(before).toBeGreaterThan(3600);
    const other = await openRig({ answer: () => '' }, { tools, backend: async () => small }, undefined, rig.out);
    await other.startWorker();
    const was = rig;
    rig = other;
    const { of } = await play('full', ['endless'], { numTurns: 3 });
    rig = was;
    await other.close();
    const { end } = await of('endless');
    expect(end).toMatchObject({ outcome: 'complete', stopReason: 'context-length' });
    expect(end!.rewards.at(-1)).toBe(-1);
    expect(end!.success.at(-1)).toBe(0);
    expect(await breaches('full')).toEqual([]);
  });

  test('sees of a long output its beginning, its end and what is left out', async () => {
    const { of } = await play('clipped', ['long'], {});
    const { turns } = await of('long');
    const [call] = turns[0]!.verdict!.calls!;
    expect(Buffer.byteLength(call!.output)).toBeLessThan(1100);
    expect(call!.output).toMatch(/^RESULT-OF-A-TOOLé+\n\[\d+ bytes left out\]\né+END$/);
    expect(turns[1]!.record.contextText).toContain(call!.output);
    expect(await breaches('clipped')).toEqual([]);
  });
});

describe('a tool that must not be called twice', () => {
  test('is called once with the derived key, and has an intent before its result', async () => {
    orders.length = 0;
    const { store, of } = await play('once', ['order']);
    expect(orders).toEqual(['once/order/0/1/1/1']);
    const id = { run: 'once', query: 'order', sample: 0, attempt: 1 };
    const [intent, call] = await Promise.all([store.getIntent(id, 1, 1), store.getCall(id, 1, 1)]);
    expect(intent!.record).toMatchObject({ key: 'once/order/0/1/1/1', name: 'order', attempt: 1 });
    expect(call!.record).toMatchObject({ outcome: 'ok', output: '{"ordered":2,"fruit":"plum","total":10}' });
    expect((await of('order')).end!.outcome).toBe('complete');
    expect(await breaches('once')).toEqual([]);
  });

  test('whose outcome is unknown fails its rollout by name, and is not called again', async () => {
    orders.length = 0;
    let tries = 0;
    const open = tools;
    const dying: Tools = {
      ...open,
      async call(tool, call, folder) {
        tries++;
        await open.call(tool, call, folder);
        // As if the worker had died between the call and its record.
        throw new ToolError('gone', { reason: 'tool-unavailable', retryable: true });
      },
    };
    const backend = withTools(scriptedBackend({ answer: () => SAYS['order']![0]! }));
    const other = await openRig(
      { answer: () => '' },
      { tools: dying, backend: async () => backend },
      undefined,
      rig.out,
    );
    await other.startWorker();
    const was = rig;
    rig = other;
    const { of, result } = await play('unknown', ['order']);
    rig = was;
    await other.close();
    expect([orders, tries]).toEqual([['unknown/order/0/1/1/1'], 1]);
    const { end } = await of('order');
    expect(end).toMatchObject({ outcome: 'failed', failure: { boundary: 'tool', reason: 'tool-outcome-unknown' } });
    expect(result.counts.boundaries).toEqual({ tool: 1 });
    expect(await breaches('unknown')).toEqual([]);
  });
});

describe('an export of a run with tools', () => {
  test('lets no token of a result carry loss, in any format', async () => {
    const { store, of } = await play('export', ['long', 'calls'], { numTurns: 1 });
    for (const format of EXPORTERS) {
      const file = join(rig.out, `export.${format.name}`);
      await exportRun(store, exporterNamed(format.name), file, {});
      expect(readFileSync(file).length, format.name).toBeGreaterThan(0);
    }
    const lines = <T>(name: string) =>
      readFileSync(join(rig.out, `export.${name}`), 'utf8')
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

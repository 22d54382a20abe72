// The promise, by the built command line on the local service: `generateText` of the AI SDK plays its loop of tools in an agent's
// function, whose worker is killed; no call that has a record is asked for again.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROLLOUTS = 2;
const STEPS = 3;
/** The model calls the tool in each step. */
const SAYS = [2, 33].map((n) => `<tool_call>\n{"name": "add", "arguments": {"a": ${n}, "b": ${n}}}\n</tool_call>`);

const AGENT = `
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { agent } from 'everturn/agent';
import { model } from 'everturn/ai-sdk';

const number = { type: 'number' } as const;
const add = tool({
  inputSchema: jsonSchema<{ a: number; b: number }>({ type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] }),
  execute: ({ a, b }) => a + b,
});

export default agent(async (task) => {
  const own = model(task);
  if (task.key.startsWith('other/')) {
    const output = Output.object({ schema: jsonSchema({ type: 'object', properties: { n: number } }) });
    await generateText({ model: own, prompt: 'Hello', tools: { add }, toolChoice: 'required', output });
    const timeout = { totalMs: 1, stepMs: 1 };
    const late = generateText({ model: own, prompt: 'Hello', tools: { add }, stopWhen: stepCountIs(50), timeout });
    const { name } = await late.then(() => ({ name: 'nothing' }), (error: Error) => error);
    if (name !== 'TimeoutError') throw new Error(\`\${name} ended it\`);
    return streamText({ model: own, prompt: 'Hello' }).text;
  }
  const { steps } = await generateText({
    model: own,
    prompt: String(task.row['question']),
    tools: { add },
    temperature: 0.5,
    timeout: 600_000,
    stopWhen: stepCountIs(${STEPS}),
  });
  const sums = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => [4, 66].includes(Number(output))));
  const warned = steps.filter(({ warnings }) => warnings?.length === 2).length;
  const tokens = steps.filter(({ usage }) => (usage.outputTokens ?? 0) > 0).length;
  return { reward: 1, rewards: { right: sums.filter(Boolean).length, warned, tokens } };
});
`;
const TYPES = `
import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider';
import { fakeTask } from 'everturn/agent';
import { model } from 'everturn/ai-sdk';
const task = fakeTask({ replies: [] });
export const models: [LanguageModelV3, LanguageModelV2] = [model(task), model(task, { specification: 'v2' })];
`;

let rig: AgentRig;
beforeAll(async () => {
  rig = await openAgentRig(ROLLOUTS, 600, SAYS);
  rig.everturn.write('agent.ts', AGENT);
});
afterAll(() => rig.close());

describe('an agent that is a function with generateText of the AI SDK', () => {
  test('goes on where it was when its worker is killed: no finished call is asked again, and each step extends the one before', async () => {
    const run = rig.everturn.start(...rig.run('storm', './agent.ts', '--tool-format', 'hermes'));
    let isOver = false;
    void run.ended.then(() => (isOver = true));
    // Two rollouts at once: a third call comes after a finished one.
    while (rig.asks().length < ROLLOUTS + 1 && !isOver) await sleep(50);
    process.kill(rig.everturn.service()!.worker!.pid, 'SIGKILL');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const asked = rig.asks().filter(({ known }) => known !== undefined);
    expect(asked.length).toBeGreaterThanOrEqual(ROLLOUTS * STEPS);
    expect(asked.filter(({ known }) => known)).toEqual([]);
    expect(await rig.everturn.mustCall('check', 'storm', '--json')).toContain(`"turns":${ROLLOUTS * STEPS},`);
    const why = await rig.everturn.mustCall('why', 'storm', 'q0');
    expect(why).toContain(`calls: ${STEPS} in 1 branch\n`);
    for (const name of ['right', 'warned', 'tokens']) expect(why).toContain(`${name} ${STEPS}`);
  }, 240_000);

  test(
    'has forms and forced tools in the system text, its own time-outs, and no streams, by name',
    { timeout: 240_000 },
    async () => {
      const { everturn, run } = rig;
      const ended = await everturn.call(...run('other', './agent.ts', '--tool-format', 'hermes', '--limit', '1'));
      expect(ended.code, ended.stderr).toBe(3);
      expect(await everturn.mustCall('why', 'other', 'q0')).toContain('take generateText in place of streamText');
      const shown = await everturn.mustCall('show', 'other', 'q0');
      expect(shown).toContain('Unless you call a tool, reply with JSON alone');
      expect(shown).toContain('Call one of the tools');
      await everturn.mustCall('check', 'other');
    },
  );

  test('has the types of the AI SDK, in both versions of its specification', () => {
    rig.everturn.write('types.ts', TYPES);
    const modules = ['ai', '@ai-sdk/provider'].map((name) => [
      name,
      [join(ROOT, 'node_modules', name, 'dist/index.d.ts')],
    ]);
    const types = { agent: 'agent-function', 'ai-sdk': 'ai-sdk' };
    const ours = Object.entries(types).map(([name, file]) => [
      ...[`everturn/${name}`, [join(ROOT, `dist/types/workflows/${file}.d.ts`)]],
    ]);
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true, types: [] },
      ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'nodenext' },
      paths: Object.fromEntries([...modules, ...ours]) as Record<string, string[]>,
    };
    const folder = rig.everturn.folder;
    rig.everturn.write('package.json', JSON.stringify({ type: 'module' }));
    rig.everturn.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['agent.ts', 'types.ts'] }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('');
  });
});

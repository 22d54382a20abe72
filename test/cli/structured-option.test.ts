// What becomes of a form that a program asks its reply to have, as a run records it.

import { describe, expect, test } from 'vitest';
import { describeProgram } from '../../run/agent-program.ts';
import { resolveOptions } from '../../run/config.ts';

const modeOf = async (model: string, structured?: string) => {
  const flags = { agent: 'session', model, ...(structured && { structured }) };
  return (await describeProgram(resolveOptions({ flags }), '/')).program!.structured ?? 'prompt';
};

describe('--structured', () => {
  test('is prompt where Everturn renders the ids, and what chat completions have at openai:, unless it is said', async () => {
    const openai = 'openai:http://a/v1#m';
    expect(await Promise.all(['tiny', 'sglang:http://a', 'vllm:http://a', openai].map((one) => modeOf(one)))).toEqual([
      ...['prompt', 'prompt', 'prompt', 'pass'],
    ]);
    const said = ['prompt', 'constrain', 'refuse'];
    expect(await Promise.all(said.map((one) => modeOf('vllm:http://a', one)))).toEqual(said);
    expect(await Promise.all(said.map((one) => modeOf(openai, one)))).toEqual(['prompt', 'pass', 'refuse']);
  });

  test('is refused before anything is played where no server could hold a reply to a form', async () => {
    await expect(modeOf('tiny', 'constrain')).rejects.toThrow(
      '--structured constrain needs a server, and tiny is none.',
    );
    await expect(modeOf('tiny', 'guided')).rejects.toThrow(/structured/);
  });
});

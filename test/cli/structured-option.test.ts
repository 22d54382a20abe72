// What becomes of a form that a program asks its reply to have, and the models beside the run's own, as a run records them.

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

describe('--side-model', () => {
  test('is recorded with its address, and refused where it has none that may be asked', async () => {
    const modelsOf = async (...sideModel: string[]) =>
      (await describeProgram(resolveOptions({ flags: { agent: 'session', sideModel } }), '/')).program!.sideModels;
    expect(await modelsOf()).toBeUndefined();
    expect(await modelsOf('e=openai:http://a:1', 's=openai:https://b/v1/#m')).toEqual([
      { name: 'e', url: 'http://a:1/v1' },
      { name: 's', url: 'https://b/v1', model: 'm' },
    ]);
    const keyed = (...sideModel: string[]) =>
      describeProgram(resolveOptions({ flags: { agent: 'session', sideModel, sideApiKeyEnv: 'A' } }), '/');
    const one = (await keyed('e=openai:http://a:1', 's=openai:http://a:1')).program!.sideModels!;
    expect(one.map(({ apiKeyEnv }) => apiKeyEnv)).toEqual(['A', 'A']);
    await expect(keyed('e=openai:http://a:1', 's=openai:http://b:1')).rejects.toThrow('are at 2 servers');
    await expect(keyed()).rejects.toThrow('there is no --side-model');
    await expect(modelsOf('e=http://a')).rejects.toThrow('names no model beside the run');
    await expect(modelsOf('e=openai:http://169.254.169.254/v1')).rejects.toThrow();
    await expect(modelsOf('e=openai:ftp://a/v1')).rejects.toThrow('neither http nor https');
  });
});

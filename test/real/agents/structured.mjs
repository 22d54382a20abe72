// Agents that ask for a typed answer, as the users of real libraries write them by default: one way for each, by the first
// argument. The packages are those of the folder that ENVIRONMENT_PACKAGES names.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(join(process.env.ENVIRONMENT_PACKAGES, 'any.cjs'));
const load = (name) => import(pathToFileURL(resolve(name)).href);
const { question } = JSON.parse(readFileSync(process.env.EVERTURN_ROW, 'utf8'));
const { OPENAI_MODEL: model, OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const number = { type: 'number' };
const schema = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] };
const sum = { type: 'object', properties: { sum: number }, required: ['sum'], additionalProperties: false };

async function ai(asked) {
  const { generateText, jsonSchema, Output, stepCountIs, tool } = await load('ai');
  const execute = ({ a, b }) => String(a + b);
  const tools = { add: tool({ description: 'Adds.', inputSchema: jsonSchema(schema), execute }) };
  const output = Output.object({ schema: jsonSchema(sum) });
  const done = await generateText({ model: asked, prompt: question, tools, output, stopWhen: stepCountIs(5) });
  return done.output;
}

async function aiSdkOf(api) {
  const { createOpenAI } = await load('@ai-sdk/openai');
  return createOpenAI({ baseURL, apiKey })[api](model);
}

async function agents() {
  const { Agent, run, tool } = await load('@openai/agents');
  const { z } = await load('zod');
  const parameters = { ...schema, additionalProperties: false };
  const execute = ({ a, b }) => String(a + b);
  const tools = [tool({ name: 'add', description: 'Adds.', parameters, strict: true, execute })];
  const outputType = z.object({ sum: z.number() });
  return (await run(new Agent({ name: 'Adder', instructions: 'You add.', model, tools, outputType }), question))
    .finalOutput;
}

const WAYS = {
  agents,
  ai_chat: async () => ai(await aiSdkOf('chat')),
  ai_responses: async () => ai(await aiSdkOf('responses')),
  async ai_anthropic() {
    const { createAnthropic } = await load('@ai-sdk/anthropic');
    return ai(createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` })(model));
  },
  async ai_compatible() {
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
    return ai(createOpenAICompatible({ name: 'any', baseURL, apiKey, supportsStructuredOutputs: true })(model));
  },
};
console.log(JSON.stringify({ answer: String((await WAYS[process.argv[2]]()).sum) }));

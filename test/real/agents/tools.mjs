// Loops with a tool, as the users of real libraries write them: one way for each, by the first argument. The packages are
// those of the folder that ENVIRONMENT_PACKAGES names.

import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(join(process.env.ENVIRONMENT_PACKAGES, 'any.cjs'));
const load = (name) => import(pathToFileURL(resolve(name)).href);
const { id: row, question } = JSON.parse(readFileSync(process.env.EVERTURN_ROW, 'utf8'));
const { OPENAI_MODEL: model, OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, EVERTURN_ATTEMPT } = process.env;
const number = { type: 'number' };
const schema = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] };

function add({ a, b }) {
  if (row === 'killed' && a === 3 && EVERTURN_ATTEMPT === '1') {
    appendFileSync(process.env.ENVIRONMENT_KILLS, 'killed\n');
    process.kill(process.pid, 'SIGKILL');
  }
  return String(a + b);
}

async function openai() {
  const { default: OpenAI } = await load('openai');
  const parameters = { function: add, parse: JSON.parse, name: 'add', description: 'Adds.', parameters: schema };
  const tools = [{ type: 'function', function: parameters }];
  const messages = [{ role: 'user', content: question }];
  return new OpenAI().chat.completions.runTools({ model, messages, tools }).finalContent();
}

async function anthropic() {
  const { default: Anthropic } = await load('@anthropic-ai/sdk');
  const tools = [{ name: 'add', description: 'Adds.', input_schema: schema }];
  const messages = [{ role: 'user', content: question }];
  for (;;) {
    const client = new Anthropic();
    const counted = await client.messages.countTokens({ model, messages, tools });
    const { content, usage } = await client.messages.create({ model, max_tokens: 500, messages, tools });
    const read = usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
    if (counted.input_tokens !== read) throw new Error(`${counted.input_tokens} tokens were counted, ${read} read`);
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return content.at(-1).text;
    const results = calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: add(input) }));
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
}

async function ai(asked, way = 'generateText') {
  const { [way]: run, jsonSchema, stepCountIs, tool } = await load('ai');
  const tools = { add: tool({ description: 'Adds.', inputSchema: jsonSchema(schema), execute: add }) };
  const { text } = await run({ model: asked, prompt: question, tools, stopWhen: stepCountIs(5) });
  return text;
}

async function aiSdkOf(api) {
  const { createOpenAI } = await load('@ai-sdk/openai');
  return createOpenAI({ baseURL, apiKey })[api](model);
}

async function agentsBy(api) {
  const { Agent, run, setOpenAIAPI, tool } = await load('@openai/agents');
  setOpenAIAPI(api);
  const parameters = { ...schema, additionalProperties: false };
  const tools = [tool({ name: 'add', description: 'Adds.', parameters, strict: true, execute: add })];
  return (await run(new Agent({ name: 'Adder', instructions: 'You add.', model, tools }), question)).finalOutput;
}

async function langgraph() {
  const { createReactAgent } = await load('@langchain/langgraph/prebuilt');
  const { ChatOpenAI } = await load('@langchain/openai');
  const { tool } = await load('@langchain/core/tools');
  const tools = [tool(add, { name: 'add', description: 'Adds.', schema })];
  const agent = createReactAgent({ llm: new ChatOpenAI({ model, configuration: { baseURL } }), tools });
  return (await agent.invoke({ messages: [{ role: 'user', content: question }] })).messages.at(-1).text;
}

const WAYS = {
  openai,
  anthropic,
  langgraph,
  agents_chat: () => agentsBy('chat_completions'),
  agents_responses: () => agentsBy('responses'),
  ai_chat: async () => ai(await aiSdkOf('chat')),
  ai_responses: async () => ai(await aiSdkOf('responses')),
  ai_stream: async () => ai(await aiSdkOf('responses'), 'streamText'),
  async ai_anthropic() {
    const { createAnthropic } = await load('@ai-sdk/anthropic');
    return ai(createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` })(model));
  },
  async ai_compatible() {
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
    return ai(createOpenAICompatible({ name: 'any', baseURL, apiKey })(model));
  },
};
console.log(JSON.stringify({ answer: await WAYS[process.argv[2]]() }));

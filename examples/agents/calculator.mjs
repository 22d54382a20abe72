// An agent of the AI SDK with a tool (`npm install ai @ai-sdk/openai-compatible`). The scripted model calls it, without a GPU.
//
//   everturn run examples/arithmetic.jsonl --agent "node examples/agents/calculator.mjs" --model scripted --limit 20

import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';

const { EVERTURN_ROW, OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, OPENAI_MODEL } = process.env;
const row = JSON.parse(readFileSync(EVERTURN_ROW, 'utf8'));

const calculate = tool({
  description: 'The value of a formula: numbers, + - * / and parentheses.',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { expression: { type: 'string' } },
    required: ['expression'],
  }),
  execute({ expression }) {
    const alien = /[^\d\s.+\-*/()]/.exec(expression);
    if (alien) throw new Error(`${alien[0]} is no part of a formula`);
    return String(runInNewContext(expression));
  },
});

const { text } = await generateText({
  model: createOpenAICompatible({ name: 'everturn', baseURL, apiKey })(OPENAI_MODEL),
  system: 'Solve the problem by the calculator. Put the answer into \\boxed{}.',
  prompt: row.question,
  tools: { calculate },
  stopWhen: stepCountIs(8),
});
console.log(JSON.stringify({ answer: text }));

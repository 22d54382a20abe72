// The backends of SGLang and vLLM keep the same contract as the embedded one, over scripted servers.

import { afterAll } from 'vitest';
import { createBackend } from '../../inference/index.ts';
import { asText, createTokenBackend } from '../support/kinds.ts';
import { backendContract, textBackendContract } from '../contract/backend.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import type { Shape } from '../support/toy-engine.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const started: ModelServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.close())));

async function open(shape: Shape) {
  const server = await modelServer({ modelPath: TINY_FOLDER, msPerToken: 1, ...shape });
  started.push(server);
  return createTokenBackend(`${shape.kind}:${server.url}`, { tokenizer: null, log: () => undefined });
}

const place = (shape: Shape) => ({ open: () => open(shape), question: 'What is 2 + 2?' });

backendContract('sglang', place({ kind: 'sglang' }));
backendContract('sglang without spans', place({ kind: 'sglang', spans: false }));
backendContract('vllm', place({ kind: 'vllm' }));
backendContract('vllm by completions', place({ kind: 'vllm', scaleOut: false }));
textBackendContract('openai', {
  async open() {
    const server = await modelServer({ kind: 'openai', msPerToken: 1 });
    started.push(server);
    return asText(await createBackend(`openai:${server.url}#some-model`, { tokenizer: null, log: () => undefined }));
  },
  question: 'What is 2 + 2?',
});

backendContract('vllm that tells no version', place({ kind: 'vllm', scaleOut: false, devMode: false }));

// The embedded backend: any ONNX causal language model in a process of its own, and its tokenizer in this one.
// Exact by construction: token ids in and out, every logprob from the distribution its token was drawn from.

import { join } from 'node:path';

import { ModelError } from '../../domain/errors.ts';
import type { BackendOptions, GenerateRequest, TokenBackend, TokenFacts } from '../backend.ts';
import { compiledScript } from '../../machine/compiled.ts';
import { ModelProcess } from './model-process.ts';
import { folderIdentity } from '../tokenizer/model-files.ts';
import { checkModelFolder, findModelSource, folderOf, type ModelSource } from '../tokenizer/model-source.ts';
import { impossible, type Claimed } from '../possible.ts';
import { packageRoot } from '../../machine/package-root.ts';
import { checkRequest } from '../request.ts';
import { openTokenizer } from '../tokenizer/tokenizer.ts';

/** The model that ships with the package. */
export function createTinyBackend(options: BackendOptions): Promise<TokenBackend> {
  return createTransformersBackend({ ...options, target: join(packageRoot(), 'models', 'tiny') }, 'tiny');
}

export async function createTransformersBackend(
  options: BackendOptions,
  knownName: string | null = null,
): Promise<TokenBackend> {
  const source = await findModelSource(options.target);
  // The tokenizer of a model folder may be elsewhere; everything else is looked for here.
  if (source.kind === 'folder') await checkModelFolder(source.path, options.tokenizer === null);
  const tokenizerSource = options.tokenizer === null ? source : await findModelSource(options.tokenizer);
  const tokenizer = await openTokenizer(tokenizerSource);
  const process = new ModelProcess(
    compiledScript('./child', import.meta.url, ModelError),
    { type: 'load', source, tokenizerSize: tokenizer.size },
    options.log,
  );
  const loaded = await process.start().catch(async (error: unknown) => {
    await process.close();
    throw error;
  });
  for (const note of loaded.notes) options.log(`model ${source.name}: ${note}`);
  const facts: TokenFacts = {
    kind: 'tokens',
    name: source.name,
    fingerprint: loaded.fingerprint,
    vocabSize: loaded.vocabSize,
    contextLength: loaded.contextLength,
    stopTokenIds: stopIds(tokenizer.stopTokenIds, loaded.eosTokenIds, loaded.vocabSize, source),
    identity: await folderIdentity(folderOf(source), knownName ?? (source.kind === 'hub' ? source.id : null), {
      tokenizerFolder: folderOf(tokenizerSource),
      weights: loaded.fingerprint,
    }),
  };
  return {
    facts,
    tokenizer,
    async generate(request, { signal, onProgress }) {
      checkRequest(request, facts);
      const { outputIds, logprobs, finish } = await process.generate(
        {
          contextIds: Int32Array.from(request.contextIds),
          maxNewTokens: request.maxNewTokens,
          sampling: request.sampling,
          seed: request.seed,
          deterministic: request.deterministic,
          stopTokenIds: request.stopTokenIds,
        },
        signal,
        onProgress,
      );
      const answer = {
        outputIds: [...outputIds],
        logprobs: [...logprobs],
        finish,
        versions: [{ version: 0, start: 0, end: outputIds.length }],
      };
      mustBePossible(answer, request, facts);
      return { ...answer, server: null };
    },
    close: () => process.close(),
  };
}

/** A defect of the engine is never kept as an answer. */
function mustBePossible(answer: Claimed, request: GenerateRequest, facts: TokenFacts): void {
  const { vocabSize, stopTokenIds } = facts;
  const none = { reason: 'bad-answer' as const, flaw: 'no token', what: 'gave no token' };
  const wrong =
    answer.outputIds.length === 0
      ? none
      : impossible(answer, request, { vocabSize, ends: (id) => stopTokenIds.includes(id) });
  if (!wrong) return;
  const { reason, flaw, what } = wrong;
  throw new ModelError(`The model process of ${facts.name} ${what}`, { reason, flaw, retryable: true });
}

function stopIds(
  tokenizer: readonly number[],
  config: readonly number[],
  vocabSize: number,
  source: ModelSource,
): readonly number[] {
  const ids = [...new Set([...tokenizer, ...config])].filter((id) => id < vocabSize);
  if (ids.length > 0) return ids;
  throw new ModelError(`Nothing says which token ends an answer of ${source.name}`, {
    reason: 'no-stop-token',
    fix: 'Give eos_token in tokenizer_config.json, or eos_token_id in generation_config.json.',
  });
}

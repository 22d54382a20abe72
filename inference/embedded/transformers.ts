// The embedded backend: any ONNX causal language model in a child process, and its tokenizer in this process.
// Exact by construction: token ids in and out, every logprob from the distribution that its token was sampled from.

import { join } from 'node:path';

import { unpackedKept } from '../../domain/rollout/kept-sets.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { BackendOptions, EmbeddedWeights, GenerateRequest, TokenBackend, TokenFacts } from '../backend.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { ModelProcess } from './model-process.ts';
import type { LoadedFacts, LoadMessage } from './protocol.ts';
import { mustRunModels } from './runtime.ts';
import { checkWeightsFolder } from './weights-folder.ts';
import { folderIdentity } from '../tokenizer/model-files.ts';
import { checkModelFolder, findModelSource, folderOf, type ModelSource } from '../tokenizer/model-source.ts';
import { findImpossible, type Claimed } from '../possible.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
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
  mustRunModels(knownName ?? options.target);
  const source = await findModelSource(options.target);
  // The tokenizer of a model folder may be elsewhere; all other files must be here.
  if (source.kind === 'folder') await checkModelFolder(source.path, options.tokenizer === null);
  const tokenizerSource = options.tokenizer === null ? source : await findModelSource(options.tokenizer);
  const tokenizer = await openTokenizer(tokenizerSource);
  const loadOf = (weights: EmbeddedWeights | null): LoadMessage => ({
    type: 'load',
    id: null,
    key: weights === null ? '' : `${weights.label} ${weights.folder}`,
    source: weights === null ? source : { kind: 'folder', path: weights.folder, name: source.name },
    tokenizerSize: tokenizer.size,
  });
  const first = options.weights ?? null;
  if (first !== null) await checkWeightsFolder(first, source, tokenizerSource);
  const process = new ModelProcess(compiledScript('./child', import.meta.url, ModelError), loadOf(first), options.log);
  const loaded = await process.start().catch(async (error: unknown) => {
    await process.close();
    throw error;
  });
  for (const note of loaded.notes) options.log(`model ${source.name}: ${note}`);
  const stopTokenIds = stopIds(tokenizer.stopTokenIds, loaded.eosTokenIds, loaded.vocabSize, source);
  const name = knownName ?? (source.kind === 'hub' ? source.id : null);
  const tokenizerFolder = folderOf(tokenizerSource);
  const identity = await folderIdentity(folderOf(source), name, { tokenizerFolder, weights: loaded.fingerprint });

  /** Samples every token of an answer from these weights; null: the model's own. */
  function backendOf(weights: EmbeddedWeights | null, { fingerprint }: LoadedFacts): TokenBackend {
    const facts: TokenFacts = {
      kind: 'tokens',
      name: source.name,
      fingerprint,
      vocabSize: loaded.vocabSize,
      givesKept: true,
      contextLength: loaded.contextLength,
      stopTokenIds,
      identity: { ...identity, weights: fingerprint },
    };
    const load = loadOf(weights);
    const version = weights === null ? { version: 0 } : { version: weights.version, versionLabel: weights.label };
    return {
      facts,
      tokenizer,
      async generate(request, { signal, onProgress }) {
        checkRequest(request, facts);
        const { outputIds, logprobs, kept, finish } = await process.generate(
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
          load,
        );
        const answer = {
          outputIds: [...outputIds],
          logprobs: [...logprobs],
          finish,
          ...(kept !== '' && { kept: unpackedKept(kept)! }),
          versions: [{ ...version, start: 0, end: outputIds.length }],
        };
        mustBePossible(answer, request, facts);
        return { ...answer, server: null };
      },
      async withWeights(other) {
        await checkWeightsFolder(other, source, tokenizerSource);
        return backendOf(other, await process.load(loadOf(other)));
      },
      close: () => process.close(),
    };
  }
  return backendOf(first, loaded);
}

/** A defect of the engine is never stored as an answer. */
function mustBePossible(answer: Claimed, request: GenerateRequest, facts: TokenFacts): void {
  const { vocabSize, stopTokenIds } = facts;
  const none = { reason: 'bad-answer' as const, flaw: 'no token', what: 'gave no token' };
  const wrong =
    answer.outputIds.length === 0
      ? none
      : findImpossible(answer, request, { vocabSize, ends: (id) => stopTokenIds.includes(id) });
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

// Loads a model in the model process: configuration and ONNX session by transformers.js, then the self-check.
// The library's own generate() is never used: it gives no logprobs and ignores top_p.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { ModelError } from '../../domain/errors/errors.ts';
import { createOnnxModel, type OnnxSession, type OnnxTensor } from '../decode/onnx-model.ts';
import { checkDecoding, type CheckReport } from '../decode/self-check.ts';
import type { StepModel, ModelTraits } from '../decode/step-model.ts';
import { weightsHash } from '../tokenizer/model-files.ts';
import {
  checkModelFolder,
  hubCacheFolder,
  pretrainedName,
  readModelFile,
  type ModelSource,
} from '../tokenizer/model-source.ts';
import { hubUnreachable } from '../tokenizer/hub.ts';
import type { LoadedFacts, LoadMessage } from './protocol.ts';

/** A second thread of a smaller model waits longer than it computes. */
const ONE_THREAD_BYTES = 64 * 2 ** 20;

export interface LoadedModel {
  readonly model: StepModel;
  readonly traits: ModelTraits;
  readonly facts: LoadedFacts;
  /** Frees its memory. It must not be called afterwards. */
  readonly release: () => Promise<unknown>;
}

/** `known`: traits of other weights of the same architecture, so that only properties of the weights are checked. */
export async function loadModel(
  { source, tokenizerSize }: Pick<LoadMessage, 'type' | 'source' | 'tokenizerSize'>,
  known: ModelTraits | null = null,
): Promise<LoadedModel> {
  if (source.kind === 'folder') await checkModelFolder(source.path, false);
  const { AutoModelForCausalLM, Tensor, env } = await import('@huggingface/transformers');
  env.cacheDir = hubCacheFolder();
  // Optional files that a folder lacks are not requested from the network.
  env.allowRemoteModels = source.kind === 'hub';
  const folder = source.kind === 'folder' ? source.path : join(hubCacheFolder(), source.id);
  const bytes = (await stat(join(folder, 'onnx/model.onnx')).catch(() => null))?.size ?? ONE_THREAD_BYTES;
  const threads = bytes < ONE_THREAD_BYTES ? { intraOpNumThreads: 1, interOpNumThreads: 1 } : {};
  const loaded = await AutoModelForCausalLM.from_pretrained(pretrainedName(source), {
    dtype: 'fp32',
    session_options: { ...threads, logSeverityLevel: 3 },
  }).catch((cause: unknown) => {
    throw unloadable(source, cause);
  });
  const config = loaded.config as unknown as Record<string, unknown>;
  const session = (loaded.sessions as Record<string, OnnxSession>)['model']!;
  const model = createOnnxModel(
    source.name,
    session,
    (type, data, dims) => new Tensor(type, data, [...dims]).ort_tensor as unknown as OnnxTensor,
    positive(config, 'vocab_size', source),
  );
  if (tokenizerSize > model.vocabSize) {
    throw new ModelError(
      `The tokenizer of ${source.name} has ids up to ${tokenizerSize - 1}, its model only up to ${model.vocabSize - 1}`,
      { reason: 'vocabulary-mismatch', fix: 'Take tokenizer.json and onnx/model.onnx from the same export.' },
    );
  }
  const contextLength = positive(config, 'max_position_embeddings', source);
  const check = known ? checkWeights(model, known) : checkDecoding(model, contextLength);
  const report = await check.catch((cause: unknown) => {
    if (cause instanceof ModelError) throw cause;
    throw new ModelError(`The model ${source.name} fails in its first steps`, { reason: 'model-broken', cause });
  });
  const eosTokenIds = [config['eos_token_id'], generationConfig(folder)['eos_token_id']]
    .flat()
    .filter((id): id is number => Number.isInteger(id));
  const fingerprint = await weightsHash(folder);
  const notes = known ? [] : describe(report.traits, report.cacheError, report.paddingError);
  return {
    model,
    traits: report.traits,
    facts: { vocabSize: model.vocabSize, contextLength, eosTokenIds, fingerprint, notes },
    release: () => loaded.dispose(),
  };
}

/** A training step can produce NaN. */
async function checkWeights(model: StepModel, traits: ModelTraits): Promise<CheckReport> {
  const ids = Array.from({ length: 8 }, (_, i) => i % model.vocabSize);
  const { logits } = await model.step({ rows: 1, width: ids.length, ids, pads: [0], past: null });
  if (logits.every(Number.isFinite)) return { traits, cacheError: 0, paddingError: 0 };
  throw new ModelError('The weights give logits that are no numbers', {
    reason: 'bad-logits',
    fix: 'Did the training step end in NaN or infinity? Give an earlier checkpoint.',
  });
}

function describe({ padding, alignment, exactUpTo }: ModelTraits, cacheError: number, paddingError: number): string[] {
  return [
    `logits with and without the KV cache differ by at most ${cacheError.toExponential(1)}`,
    padding
      ? `logits of padded and single prompts differ by at most ${paddingError.toExponential(1)}; not at all in steps of ${alignment}, up to ${exactUpTo} tokens`
      : `left padding changes its answers (by ${paddingError.toPrecision(2)}): requests are decoded one by one`,
  ];
}

function positive(config: Record<string, unknown>, key: string, source: ModelSource): number {
  const value = config[key];
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw new ModelError(`config.json of ${source.name} has no usable ${key} (${JSON.stringify(value)})`, {
    reason: 'model-config',
    fix: 'A causal language model has its vocabulary size and its length there, as positive whole numbers.',
  });
}

function generationConfig(folder: string): Record<string, unknown> {
  try {
    return JSON.parse(readModelFile(folder, 'generation_config.json')) as Record<string, unknown>;
  } catch {
    return {}; // optional
  }
}

function unloadable(source: ModelSource, cause: unknown): ModelError {
  if (source.kind === 'hub') return hubUnreachable(source.id, cause);
  return new ModelError(`The model in ${source.path} cannot be loaded`, {
    reason: 'model-unloadable',
    fix: 'onnx/model.onnx must be a float32 export that onnxruntime can read, and config.json must name its model_type.',
    cause,
  });
}

// Checks that a folder of new weights fits this model: the same architecture and the same tokenizer, by its files and
// before anything is loaded. An error names the difference with both values.

import { ModelError } from '../../domain/errors/errors.ts';
import type { EmbeddedWeights } from '../backend.ts';
import { tokenizerHashes } from '../tokenizer/model-files.ts';
import { checkModelFolder, folderOf, readModelFile, type ModelSource } from '../tokenizer/model-source.ts';

/** The fields of config.json that decide the shapes of the weights and the computation. */
const ARCHITECTURE = [
  'model_type',
  'vocab_size',
  'hidden_size',
  'intermediate_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'max_position_embeddings',
  'hidden_act',
  'rope_theta',
  'tie_word_embeddings',
] as const;

export async function checkWeightsFolder(
  { folder, label }: EmbeddedWeights,
  model: ModelSource,
  tokenizer: ModelSource,
): Promise<void> {
  await checkModelFolder(folder, false);
  const [before, now] = [configOf(folderOf(model)), configOf(folder)];
  // If the model's first folder is gone, nothing can be compared; the load itself then fails or succeeds.
  const differs = before === null ? [] : ARCHITECTURE.filter((key) => textOf(before[key]) !== textOf(now?.[key]));
  if (differs.length > 0) {
    const differences = differs.map((key) => `${key} ${textOf(before![key])} there, ${textOf(now?.[key])} here`);
    throw new ModelError(
      `The weights ${label} in ${folder} are of another architecture than ${model.name}: ${differences.join('; ')}`,
      {
        reason: 'other-architecture',
        fix: 'New weights are those of the same model, exported in the same way.',
      },
    );
  }
  const [first, own] = await Promise.all([tokenizerHashes(folderOf(tokenizer)), tokenizerHashes(folder)]);
  if (first.tokenizer !== null && own.tokenizer !== null && own.tokenizer !== first.tokenizer) {
    throw new ModelError(
      `The weights ${label} in ${folder} come with another tokenizer than ${model.name}: ` +
        `${own.tokenizer.slice(0, 12)} here, ${first.tokenizer.slice(0, 12)} there`,
      { reason: 'other-tokenizer', fix: 'Copy the tokenizer of the model beside its weights, or leave it out.' },
    );
  }
}

function configOf(folder: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(readModelFile(folder, 'config.json')) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80);
}

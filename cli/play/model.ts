// The model of a run, looked at before anything is started: its folder by an absolute path, as workers run
// elsewhere, and loaded once, so that a model that cannot answer is refused at once.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { mustExtend } from '../../domain/feedback-delta.ts';
import { foundLogprobs, mustServeLogprobs, type FoundLogprobs } from '../../domain/logprob-meaning.ts';
import type { ModelIdentity } from '../../domain/model-identity.ts';
import type { RolloutSettings } from '../../domain/settings.ts';
import type { RunOptions } from '../../run/options.ts';
import type { TokenBackend } from '../../inference/backend.ts';
import { createBackend, parseModelSpec, tinyIdentity } from '../../inference/index.ts';
import { say, type Io } from '../io.ts';

/** Options whose folders are absolute. A name that is no folder here is left as it is: a hub id. */
export function withAbsolutePaths(options: RunOptions, cwd: string): RunOptions {
  const { scheme, files } = parseModelSpec(options.model);
  return {
    ...options,
    model: files === null ? options.model : `${scheme}:${absolute(files, cwd)}`,
    tokenizer: options.tokenizer && absolute(options.tokenizer, cwd),
  };
}

function absolute(path: string, cwd: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return /^\.{0,2}\//.test(path) || /^\.{1,2}$/.test(path) || existsSync(resolve(cwd, path))
    ? resolve(cwd, path)
    : path;
}

/** The model's facts that run.json stores. */
export interface FoundModel {
  readonly logprobs: FoundLogprobs;
  readonly model: ModelIdentity | null;
}

/**
 * Throws a ModelError where the model cannot be loaded, would lie, or cannot be told its verdicts in conversations
 * that begin with messages of these roles. The one that ships needs no look. Says what it was found to be.
 */
export async function checkModel(
  settings: Omit<RolloutSettings, 'seed'>,
  openings: readonly (readonly string[])[],
  io: Io,
): Promise<FoundModel> {
  const { model, tokenizer, apiKeyEnv, logprobs, serverLimits, serverWeights } = settings;
  if (model === 'tiny' && tokenizer === null && logprobs === 'policy') {
    return { logprobs: { meaning: 'policy' }, model: await tinyIdentity() };
  }
  const backend = await createBackend(model, {
    tokenizer,
    apiKeyEnv,
    serverLimits,
    serverWeights,
    log: (line) => say(io, line),
  });
  try {
    mustServeLogprobs(backend.facts, settings);
    // A server of text renders the conversation itself.
    if (settings.feedback === 'delta' && 'tokenizer' in backend) mustFollow(backend, openings);
    return { logprobs: foundLogprobs(backend.facts), model: backend.facts.identity ?? null };
  } finally {
    await backend.close();
  }
}

function mustFollow({ facts, tokenizer }: TokenBackend, openings: readonly (readonly string[])[]): void {
  const template = { name: facts.name, text: tokenizer.chatTemplate() ?? '', render: tokenizer.renderChat };
  for (const roles of openings)
    mustExtend(
      template,
      roles.map((role) => ({ role, content: 'Question' })),
    );
}

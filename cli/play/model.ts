// The model of a run before anything is started: it is loaded once, so that an unusable one is refused at once; and its
// folders with absolute paths, because workers run elsewhere.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { mustExtend } from '../../domain/rollout/feedback-delta.ts';
import { foundLogprobs, mustServeLogprobs, type FoundLogprobs } from '../../domain/rollout/logprob-meaning.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { ToolSettings } from '../../domain/tools/tool.ts';
import type { TokenBackend } from '../../inference/backend.ts';
import { createBackend, parseModelSpec, tinyIdentity, unhonoured } from '../../inference/index.ts';
import type { RunOptions } from '../../run/options.ts';
import { flagOf, unusable } from '../command.ts';
import { say, type Io } from '../io.ts';
import { withToolFormat } from './tools.ts';

/** The model's facts that run.json stores. */
export interface FoundModel {
  readonly logprobs: FoundLogprobs;
  readonly model: ModelIdentity | null;
  /** The run's tools, with the format in which the model calls them; not stored by themselves. */
  readonly tools?: ToolSettings;
}

/**
 * Throws a ModelError if the model cannot be loaded, fails its self-check, or cannot get feedback in conversations
 * that begin with messages of these roles, or cannot call the run's tools. The shipped model needs no check. Returns the facts for run.json.
 */
export async function checkModel(
  settings: Omit<RolloutSettings, 'seed'>,
  openings: readonly (readonly string[])[],
  io: Io,
): Promise<FoundModel> {
  const { tools, model, tokenizer, apiKeyEnv, logprobs, serverLimits, serverWeights, extraBody } = settings;
  if (model === 'tiny' && tokenizer === null && logprobs === 'policy' && !tools) {
    return { logprobs: { meaning: 'policy' }, model: await tinyIdentity() };
  }
  const backend = await createBackend(model, {
    tokenizer,
    apiKeyEnv,
    serverLimits,
    serverWeights,
    ...(extraBody && { extraBody }),
    log: (line) => say(io, line),
  });
  try {
    mustServeLogprobs(backend.facts, settings);
    // A server of text renders the conversation itself.
    if (settings.feedback === 'delta' && 'tokenizer' in backend) mustFollow(backend, openings);
    const called = tools && (await withToolFormat(backend, tools, openings, io));
    return {
      logprobs: foundLogprobs(backend.facts),
      model: backend.facts.identity ?? null,
      ...(called && { tools: called }),
    };
  } finally {
    await backend.close();
  }
}

/**
 * A setting with which every rollout would fail is refused before the run is made, since its name would be taken; one
 * that changes nothing is said.
 */
export function mustHonour(io: Io, settings: RolloutSettings): void {
  const found = unhonoured(settings);
  const fatal = found.find((one) => one.fatal);
  for (const { name, why } of fatal ? [] : found)
    say(io, `Note: ${settings.model} does not honour ${flagOf(name)}: ${why}.`);
  if (!fatal) return;
  const { name, why } = fatal;
  const message = `${settings.model} cannot honour ${flagOf(name)}: ${why}.`;
  throw unusable(message, `Leave ${flagOf(name)} out.`, 'bad-settings');
}

function mustFollow({ facts, tokenizer }: TokenBackend, openings: readonly (readonly string[])[]): void {
  const template = { name: facts.name, text: tokenizer.chatTemplate() ?? '', render: tokenizer.renderChat };
  for (const roles of openings)
    mustExtend(
      template,
      roles.map((role) => ({ role, content: 'Question' })),
    );
}

/** Options with absolute folders. A name that is not a folder here stays unchanged: a hub id. */
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

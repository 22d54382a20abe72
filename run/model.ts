// The model of a run before anything is started: it is loaded once, so that an unusable one is refused at once; and its
// folders with absolute paths, because workers run elsewhere.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelError } from '../domain/errors/errors.ts';
import { renderFor } from '../domain/context/new-context.ts';
import { answersRewritten, mustExtend } from '../domain/context/feedback-delta.ts';
import { mustGiveSets } from '../domain/rollout/kept-sets.ts';
import { foundLogprobs, mustServeLogprobs } from '../domain/rollout/logprob-meaning.ts';
import { isFunctionModel, type RolloutSettings } from '../domain/rollout/settings.ts';
import type { ToolSettings } from '../domain/tools/tool.ts';
import type { Backend, TokenBackend } from '../inference/backend.ts';
import { createBackend, parseModelSpec, tinyIdentity, unhonouredSettings } from '../inference/index.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { RunOptions } from './options.ts';
import { flagOf, unusable } from '../domain/errors/unusable.ts';
import { type Caller, logOf } from './caller.ts';
import { conversationWith, withToolFormat } from './tools.ts';

/**
 * Opens the model of a run for what `use` asks of it, with the run's tools in the format in which it calls them. Throws a
 * ModelError if it cannot be loaded, or cannot call the run's tools.
 */
export async function withModel<T>(
  settings: Omit<RolloutSettings, 'seed'>,
  openings: readonly (readonly string[])[],
  caller: Caller,
  use: (backend: Backend, tools: ToolSettings | undefined) => Promise<T>,
): Promise<T> {
  const log = logOf(caller);
  const own = isFunctionModel(settings.model) ? caller.functions?.model : undefined;
  const backend = own ?? (await patiently(caller, () => createBackend(settings.model, { ...settings, log })));
  try {
    mustServeLogprobs(backend.facts, settings);
    mustBeBeside(backend.facts.name, settings);
    return await use(
      backend,
      settings.tools && (await withToolFormat(backend, { ...settings, tools: settings.tools }, openings, caller)),
    );
  } finally {
    await backend.close();
  }
}

/** Requests that name the run's own model would be passed on, and none would be a turn. */
function mustBeBeside(name: string, { program }: Pick<RolloutSettings, 'program'>): void {
  if (!program?.sideModels?.some((side) => side.name === name)) return;
  const message = `--side-model ${name} has the name of the run's own model, whose calls are its turns.`;
  throw unusable(message, 'Give it another name, by which the program asks for it.', 'bad-value');
}

/** Pauses before the tries of a server that answers, or that broke off; a wrong address is soon found to be one. */
const PAUSES_MS = [1000, 2000, 4000, 8000];
const UNREACHED_PAUSES_MS = [1000, 2000, 3000];
const LONGEST_PAUSE_MS = 30_000;
const PASSING: ReadonlySet<string> = new Set(['server-busy', 'server-error', 'server-reset', 'server-unreachable']);

/** A server that restarts, or that is busy for a moment, is asked some times: nothing has begun that would ask it again. */
export async function patiently<T>(
  { onEvent, signal }: Pick<Caller, 'onEvent' | 'signal'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const { cause } = error as Error;
      const why = cause instanceof ModelError ? cause : error;
      if (!(why instanceof ModelError) || !why.retryable || !PASSING.has(why.reason)) throw error;
      const pauses = why.reason === 'server-unreachable' ? UNREACHED_PAUSES_MS : PAUSES_MS;
      const pauseMs = pauses[tries] && (why.retryAfterMs ?? pauses[tries]);
      if (pauseMs === undefined || pauseMs > LONGEST_PAUSE_MS) throw error;
      onEvent({ type: 'asked-again', why: why.message, inMs: pauseMs });
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

/**
 * The facts for run.json, and the run's tools with the format in which the model calls them. Throws a ModelError, too, if the model cannot get feedback in conversations that begin with messages
 * of these roles. The shipped model needs no check.
 */
export async function checkModel(
  settings: Omit<RolloutSettings, 'seed'>,
  openings: readonly (readonly string[])[],
  caller: Caller,
  isTrained = false,
): Promise<Pick<RunRecord, 'logprobs' | 'model'> & Pick<RolloutSettings, 'tools'>> {
  const { model, tokenizer, logprobs, chatTemplateKwargs } = settings;
  if (
    model === 'tiny' &&
    tokenizer === null &&
    logprobs === 'policy' &&
    !settings.tools &&
    !chatTemplateKwargs &&
    !settings.program?.sideModels
  )
    return { logprobs: { meaning: 'policy' }, model: await tinyIdentity() };
  return withModel(settings, openings, caller, async (backend, tools) => {
    if (isTrained) mustGiveSets(backend.facts, settings);
    // A server of text renders the conversation itself.
    if ('tokenizer' in backend) checkTemplate(backend, settings, openings, caller);
    const { facts } = backend;
    return { logprobs: foundLogprobs(facts), model: facts.identity ?? null, ...(tools && { tools }) };
  });
}

/**
 * A setting with which every rollout would fail is refused before the run is made, since its name would be taken; one
 * that changes nothing is told.
 */
export function mustHonour(settings: RolloutSettings, { onEvent }: Caller): void {
  const found = unhonouredSettings(settings);
  const fatal = found.find((one) => one.fatal);
  for (const { name, why } of fatal ? [] : found)
    onEvent({ type: 'not-honoured', model: settings.model, setting: name, why });
  if (!fatal) return;
  const { name, why } = fatal;
  const message = `${settings.model} cannot honour ${flagOf(name)}: ${why}.`;
  throw unusable(message, `Leave ${flagOf(name)} out.`, 'bad-settings');
}

/** Throws a ModelError where feedback cannot follow; tells what the template does not know, and what it would show otherwise. */
function checkTemplate(
  { facts, tokenizer }: TokenBackend,
  { feedback, numTurns, program, chatTemplateKwargs }: Omit<RolloutSettings, 'seed'>,
  openings: readonly (readonly string[])[],
  { onEvent }: Caller,
): void {
  const text = tokenizer.chatTemplate() ?? '';
  const words = new Set(text.match(/[\p{L}\p{N}_]+/gu));
  const unknown = Object.keys(chatTemplateKwargs ?? {}).filter((name) => !words.has(name));
  if (unknown.length > 0) onEvent({ type: 'variables-unknown', model: facts.name, names: unknown });
  if (program || numTurns === 1 || text === '') return;
  const template = { name: facts.name, text, render: renderFor(tokenizer, undefined, chatTemplateKwargs ?? undefined) };
  const conversations = openings.map(conversationWith);
  if (feedback === 'delta') for (const messages of conversations) mustExtend(template, messages);
  const found = conversations.map((messages) => answersRewritten(template, messages)).find((one) => one !== null);
  if (found) onEvent({ type: 'answers-kept', model: facts.name, otherwise: found });
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

// The tools of a run: described once before anything is started, and the format in which its model calls them,
// which its chat template shows.

import { ModelError } from '../domain/errors/errors.ts';
import { renderFor } from '../domain/context/new-context.ts';
import { ENDPOINT_CALLS } from '../domain/rollout/calls.ts';
import type { Marker, ToolSettings } from '../domain/tools/tool.ts';
import { mustTakeTools } from '../domain/context/tool-extension.ts';
import type { Backend, TokenBackend } from '../inference/backend.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { RunOptions } from './options.ts';
import { type DescribedTools, describeTools, mustDiffer } from '../environments/tools/describe.ts';
import { detectToolFormat, toolFormatNamed, toolFormatNames } from '../environments/tools/formats/format.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { type Caller, logOf } from './caller.ts';

export interface RunTools extends DescribedTools {
  /** Undefined: the run has no tools. Its format is empty while only the model can tell it. */
  readonly settings: ToolSettings | undefined;
}

/** `forProgram`: an agent's program brings its tools in its requests; the run says how the model calls them. */
export async function describeRunTools(options: RunOptions, caller: Caller, forProgram: boolean): Promise<RunTools> {
  const { tool, mcp, toolFormat, maxToolCalls, toolOutputBytes } = options;
  if (toolFormat !== null && !toolFormatNamed(toolFormat)) {
    const message = `--tool-format ${JSON.stringify(toolFormat)} is no format.`;
    throw unusable(message, `Give one of: ${toolFormatNames.join(', ')}.`);
  }
  const limits = { maxCalls: maxToolCalls, outputBytes: toolOutputBytes };
  const functions = caller.functions?.tools?.records ?? [];
  if (tool.length + mcp.length + functions.length === 0) {
    return {
      list: [],
      codes: [],
      settings: forProgram ? { format: toolFormat ?? '', list: [], ...limits } : undefined,
    };
  }
  const described = await describeTools(options, caller.cwd, logOf(caller));
  const list = [...functions, ...described.list];
  mustDiffer(list);
  return { ...described, list, settings: { format: toolFormat ?? '', list, ...limits } };
}

/**
 * The tools, with the format in which this model calls them; undefined where an agent's program names its tools itself, and
 * the model has none. Throws a ModelError if the model cannot be told of their results, or if its
 * template shows no format and none was given.
 */
export async function withToolFormat(
  backend: Backend,
  tools: ToolSettings,
  openings: readonly (readonly string[])[],
  { onEvent }: Caller,
): Promise<ToolSettings | undefined> {
  if (!('tokenizer' in backend)) {
    if (tools.format === '' || tools.format === ENDPOINT_CALLS) return { ...tools, format: ENDPOINT_CALLS };
    const message = `--tool-format ${tools.format} reads calls out of token ids, and ${backend.facts.name} gives calls itself.`;
    throw unusable(message, 'Leave --tool-format out.');
  }
  const isOptional = tools.list.length === 0;
  const { facts, tokenizer } = backend;
  const found = toolFormatNamed(tools.format || (detectToolFormat(tokenizer.chatTemplate() ?? '') ?? ''));
  if (!found && isOptional) return undefined;
  if (!found) {
    throw new ModelError(`The chat template of ${facts.name} shows no format of tool calls that is known.`, {
      reason: 'tool-format',
      fix: `Give --tool-format, one of: ${toolFormatNames.join(', ')}; or try tools with --model scripted, as everturn demo --tools does.`,
    });
  }
  const { stops, opensResults } = found;
  const whole: ToolSettings = {
    ...tools,
    format: found.name,
    stops,
    ...(opensResults !== undefined && { opensResults }),
  };
  if (isOptional) return withMarkers(whole, tokenizer, found.openings);
  const end = { stop: stops[0] ?? null, stops, ...(opensResults !== undefined && { opensResults }) };
  const asked = openings.length > 0 ? openings : [['user']];
  const shown = mustTakeTools(
    { name: facts.name, render: renderFor(tokenizer, { tools: whole }), end },
    tools.list,
    asked.map((roles) => roles.map((role) => ({ role, content: 'Question' }))),
  );
  if (!shown) onEvent({ type: 'tools-not-shown' });
  return withMarkers(whole, tokenizer, found.openings);
}

async function withMarkers(
  tools: ToolSettings,
  tokenizer: TokenBackend['tokenizer'],
  openings: readonly string[],
): Promise<ToolSettings> {
  const markers = await markersOf(tokenizer, openings);
  return markers.length > 0 ? { ...tools, markers } : tools;
}

/** The openings of calls for which the tokenizer has a token, wherever they are in a text. */
export async function markersOf(
  { encodeRendered }: TokenBackend['tokenizer'],
  openings: readonly string[],
): Promise<Marker[]> {
  const found = await Promise.all(
    // A single character is part of many ordinary tokens.
    openings
      .filter((text) => text.length > 1)
      .map(async (text) => {
        const [[id, ...more], within] = await Promise.all([encodeRendered(text), encodeRendered(`x${text}x`)]);
        return id !== undefined && more.length === 0 && within.includes(id) ? [{ text, id }] : [];
      }),
  );
  return found.flat();
}

/** An existing run has the format that was found when it was made, unless another one is given. */
export function withKnownFormat(
  tools: ToolSettings,
  there: Pick<RolloutSettings, 'tools'> | undefined,
): Pick<RolloutSettings, 'tools'> {
  const known = there?.tools;
  if (there && !known && tools.list.length === 0) return {};
  if (!known || (tools.format !== '' && tools.format !== known.format)) return { tools };
  return { tools: { ...known, ...tools, format: known.format } };
}

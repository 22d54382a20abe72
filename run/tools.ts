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
import { describeTools, mustDiffer } from '../environments/tools/describe.ts';
import { detectToolFormat, toolFormatNamed, toolFormatNames } from '../environments/tools/formats/format.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { type Caller, logOf } from './caller.ts';

/**
 * `settings` are undefined where the run has no tools; their format is empty while only the model can tell it. `forProgram`: an
 * agent's program brings its tools in its requests; the run says how the model calls them.
 */
export async function describeRunTools(options: RunOptions, caller: Caller, forProgram: boolean) {
  const { toolFormat, maxToolCalls: maxCalls, toolOutputBytes: outputBytes } = options;
  if (toolFormat !== null && !toolFormatNamed(toolFormat)) {
    const message = `--tool-format ${JSON.stringify(toolFormat)} is no format.`;
    throw unusable(message, `Give one of: ${toolFormatNames.join(', ')}.`);
  }
  const described = await describeTools(options, caller.cwd, logOf(caller));
  const list = [...(caller.functions?.tools?.records ?? []), ...described.list];
  mustDiffer(list);
  const settings: ToolSettings = { format: toolFormat ?? '', list, maxCalls, outputBytes };
  return { codes: described.codes, settings: list.length > 0 || forProgram ? settings : undefined };
}

/**
 * The tools, with the format in which this model calls them; undefined where an agent's program names its tools itself, and
 * the model has none. Throws a ModelError if the model cannot be told of their results, or if its
 * template shows no format and none was given.
 */
export async function withToolFormat(
  backend: Backend,
  { tools, chatTemplateKwargs }: Pick<RolloutSettings, 'chatTemplateKwargs'> & { readonly tools: ToolSettings },
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
  const end = { stops, ...(opensResults !== undefined && { opensResults }) };
  const whole: ToolSettings = { ...tools, format: found.name, ...end };
  if (!isOptional) {
    const asked = openings.length > 0 ? openings : [['user']];
    const shown = mustTakeTools(
      {
        name: facts.name,
        render: renderFor(tokenizer, tools.list, chatTemplateKwargs ?? undefined),
        end: { stop: stops[0] ?? null, ...end },
      },
      tools.list,
      asked.map(conversationWith),
    );
    if (!shown) onEvent({ type: 'tools-not-shown' });
  }
  const markers = await markersOf(tokenizer, found.openings);
  return markers.length > 0 ? { ...whole, markers } : whole;
}

/** A conversation of messages in these roles, to try a chat template. */
export const conversationWith = (roles: readonly string[]) => roles.map((role) => ({ role, content: 'Question' }));

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

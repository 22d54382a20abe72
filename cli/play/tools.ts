// The tools of a command's run: described once before anything is started, and the format in which its model calls them,
// which its chat template shows.

import { ModelError, UsageError } from '../../domain/errors.ts';
import { oneLine } from '../../domain/foreign-text.ts';
import { renderFor } from '../../domain/new-context.ts';
import type { ToolSettings } from '../../domain/tool.ts';
import { mustTakeTools } from '../../domain/tool-extension.ts';
import type { Backend } from '../../inference/backend.ts';
import type { RunOptions } from '../../run/options.ts';
import { type DescribedTools, describeTools } from '../../tools/describe.ts';
import { detectToolFormat, toolFormatNamed, toolFormatNames } from '../../tools/formats/format.ts';
import { type Io, say } from '../io.ts';

export interface RunTools extends DescribedTools {
  /** Undefined: the run has no tools. Its format is empty while only the model can tell it. */
  readonly settings: ToolSettings | undefined;
}

export async function describeRunTools(options: RunOptions, io: Io): Promise<RunTools> {
  const { tool, mcp, toolFormat, maxToolCalls, toolOutputBytes } = options;
  if (toolFormat !== null && !toolFormatNamed(toolFormat)) {
    throw new UsageError(`--tool-format ${JSON.stringify(toolFormat)} is no format.`, {
      reason: 'bad-value',
      fix: `Give one of: ${toolFormatNames.join(', ')}.`,
    });
  }
  if (tool.length + mcp.length === 0) return { list: [], codes: [], settings: undefined };
  const described = await describeTools(options, io.cwd, (line) => say(io, oneLine(line)));
  const limits = { maxCalls: maxToolCalls, outputBytes: toolOutputBytes };
  return { ...described, settings: { format: toolFormat ?? '', list: described.list, ...limits } };
}

/**
 * The tools, with the format in which this model calls them. Throws a ModelError if the model cannot be told of tools or of their results,
 * or if its template shows no format and none was given.
 */
export async function withToolFormat(
  backend: Backend,
  tools: ToolSettings,
  openings: readonly (readonly string[])[],
): Promise<ToolSettings> {
  if (!('tokenizer' in backend)) {
    throw new ModelError(`${backend.facts.name} takes messages and gives text: the calls of tools need token ids.`, {
      reason: 'tool-format',
      fix: 'Use vllm:<url>, sglang:<url> or an embedded model.',
    });
  }
  const { facts, tokenizer } = backend;
  const found = toolFormatNamed(tools.format || (detectToolFormat(tokenizer.chatTemplate() ?? '') ?? ''));
  if (!found) {
    throw new ModelError(`The chat template of ${facts.name} shows no format of tool calls that is known.`, {
      reason: 'tool-format',
      fix: `Give --tool-format, one of: ${toolFormatNames.join(', ')}.`,
    });
  }
  const { stops, opensResults } = found as Partial<Pick<ToolSettings, 'stops' | 'opensResults'>>;
  const whole: ToolSettings = {
    ...tools,
    format: found.name,
    ...(stops && { stops }),
    ...(opensResults !== undefined && { opensResults }),
  };
  const [id] = facts.stopTokenIds.slice(-1);
  const own = id === undefined ? null : await tokenizer.decode([id], { skipSpecialTokens: false });
  const end = { stop: stops?.[0] ?? own, ...(stops && { stops }), ...(opensResults !== undefined && { opensResults }) };
  const asked = openings.length > 0 ? openings : [['user']];
  mustTakeTools(
    { name: facts.name, render: renderFor(tokenizer, { tools: whole }), end },
    tools.list,
    asked.map((roles) => roles.map((role) => ({ role, content: 'Question' }))),
  );
  return whole;
}

/** An existing run has the format that was found when it was made, unless another one is given. */
export function withKnownFormat(tools: ToolSettings, known: ToolSettings | undefined): ToolSettings {
  if (!known || (tools.format !== '' && tools.format !== known.format)) return tools;
  const { format, stops, opensResults } = known;
  return { ...tools, format, ...(stops && { stops }), ...(opensResults !== undefined && { opensResults }) };
}

// The tools of a command's run: described once before anything is started, and the format in which its model calls them,
// which its chat template shows.

import { ModelError, UsageError } from '../../domain/errors.ts';
import { oneLine } from '../../domain/foreign-text.ts';
import { renderFor } from '../../domain/new-context.ts';
import type { RolloutSettings } from '../../domain/settings.ts';
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
 * The format in which this model calls tools. Throws a ModelError if the model cannot be told of tools or of their results,
 * or if its template shows no format and none was given.
 */
export async function toolFormatOf(
  backend: Backend,
  settings: Pick<RolloutSettings, 'tools'> & { readonly tools: ToolSettings },
  openings: readonly (readonly string[])[],
): Promise<string> {
  if (!('tokenizer' in backend)) {
    throw new ModelError(`${backend.facts.name} takes messages and gives text: the calls of tools need token ids.`, {
      reason: 'tool-format',
      fix: 'Use vllm:<url>, sglang:<url> or an embedded model.',
    });
  }
  const { facts, tokenizer } = backend;
  const found = settings.tools.format || detectToolFormat(tokenizer.chatTemplate() ?? '');
  if (!found) {
    throw new ModelError(`The chat template of ${facts.name} shows no format of tool calls that is known.`, {
      reason: 'tool-format',
      fix: `Give --tool-format, one of: ${toolFormatNames.join(', ')}.`,
    });
  }
  const [stop] = facts.stopTokenIds.slice(-1);
  const stopText = stop === undefined ? null : await tokenizer.decode([stop], { skipSpecialTokens: false });
  const asked = openings.length > 0 ? openings : [['user']];
  mustTakeTools(
    { name: facts.name, render: renderFor(tokenizer, settings) },
    settings.tools.list,
    asked.map((roles) => roles.map((role) => ({ role, content: 'Question' }))),
    stopText,
  );
  return found;
}

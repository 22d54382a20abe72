// The registry: the tools of a worker by their door. Reads the calls in a reply with the format of the run's model, and
// says of each whether it can be run: an unknown tool, broken JSON or arguments that do not fit are told to the model.

import { ToolError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { badArguments, furtherCalls, noSuchTool, TOO_DEEP } from '../../domain/errors/refusals.ts';
import { ENDPOINT_CALLS } from '../../domain/rollout/calls.ts';
import { MAX_CALLS_OF_A_REPLY, type ToolRecord, type WrittenCall } from '../../domain/tools/tool.ts';
import { openedThought } from '../../domain/text/thoughts.ts';
import { namedCall } from './formats/reply.ts';
import {
  type BadCall,
  isBad,
  type ParsedCall,
  type ToolFormat,
  toolFormatNamed,
  toolFormatNames,
} from './formats/format.ts';
import { argumentsFlaw, isTooDeep } from './described.ts';
import type { ToolAnswer, ToolCall, Tools } from './tool.ts';

/** Runs the tools of one kind. */
export interface Door {
  call(tool: ToolRecord, call: ToolCall, runFolder: string): Promise<ToolAnswer>;
  close(): Promise<void> | void;
}

/** A door that is missing is not served by this worker. */
export type Doors = { readonly [name in ToolRecord['door']]?: Door };

export function createTools(doors: Doors): Tools {
  return {
    callsIn(text, prompt, { format, list }) {
      const { calls } = formatOf(format).parse(openedThought(prompt) + text, list);
      const written = calls.slice(0, MAX_CALLS_OF_A_REPLY).map((call) => writtenCall(call, list));
      const more = calls.length - written.length;
      if (more === 0) return written;
      const error = furtherCalls(more, MAX_CALLS_OF_A_REPLY);
      return [...written, { name: null, arguments: null, id: null, raw: '', error }];
    },

    // The endpoint wants a result for each of them, by its id.
    callsGiven: (calls, { list }) =>
      calls.map(({ id, name, arguments: given }, i) => {
        const call = namedCall(name, given === '' ? {} : given, { raw: given, form: JSON_OBJECT }, id);
        const more = calls.length - MAX_CALLS_OF_A_REPLY;
        const isTooMany = i >= MAX_CALLS_OF_A_REPLY && { error: furtherCalls(more, MAX_CALLS_OF_A_REPLY) };
        return { ...writtenCall(call, list), id, ...isTooMany };
      }),

    replyIn(text, prompt, format, tools) {
      const { content, thinking, calls } = formatOf(format).parse(openedThought(prompt) + text, tools);
      const whole = calls.flatMap((call) => (isBad(call) ? [] : [call]));
      // A call that cannot be read is text: the program tells the model in its own way.
      const unread = calls.flatMap((call) => (isBad(call) ? [call.raw] : []));
      return {
        text: [content, ...unread].filter((part) => part !== '').join('\n'),
        ...(thinking !== '' && { reasoning: thinking }),
        ...(whole.length > 0 && {
          calls: whole.map((call) => ({ name: call.name, arguments: JSON.stringify(call.arguments) })),
        }),
      };
    },

    resultMessage({ name, arguments: given, id, raw, error = '' }, output, { format }) {
      if (format === ENDPOINT_CALLS) return { role: 'tool', content: output, tool_call_id: id ?? '' };
      return formatOf(format).resultMessage(
        name === null || given === null
          ? { raw, error, ...(name !== null && { name }) }
          : { name, arguments: JSON.parse(given) as JsonObject, id, raw },
        output,
      );
    },

    async call(tool, call, runFolder) {
      const door = doors[tool.door];
      if (door) return door.call(tool, call, runFolder);
      throw new ToolError(`This worker runs no tool of the kind ${tool.door}, which ${tool.name} is.`, {
        reason: 'tool-not-served',
        retryable: true,
      });
    },

    async close() {
      await Promise.all(Object.values(doors).map((door) => door.close()));
    },
  };
}

const JSON_OBJECT = '{"name of a parameter": value, …}';

function formatOf(name: string): ToolFormat {
  const format = toolFormatNamed(name);
  if (format) return format;
  throw new ToolError(`The run's tool format is ${JSON.stringify(name)}, which this worker does not know.`, {
    reason: 'tool-missing',
    fix: `It knows ${toolFormatNames.join(', ')}; was the run made by a newer version?`,
  });
}

function writtenCall(call: ParsedCall | BadCall, tools: readonly ToolRecord[]): WrittenCall {
  if ('error' in call) return { name: call.name ?? null, arguments: null, id: null, raw: call.raw, error: call.error };
  const { name, id, raw } = call;
  if (isTooDeep(call.arguments)) return { name, arguments: '{}', id, raw, error: TOO_DEEP };
  const written = { name, arguments: JSON.stringify(call.arguments), id, raw };
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const error = noSuchTool(
      name,
      tools.map((one) => one.name),
    );
    return { ...written, error };
  }
  const flaw = argumentsFlaw(tool.parameters, call.arguments);
  return flaw === undefined ? written : { ...written, error: badArguments(name, flaw) };
}

// The options of a run that are about tools.

import { z } from 'zod';
import {
  DEFAULT_MAX_TOOL_CALLS,
  DEFAULT_TOOL_OUTPUT_BYTES,
  MAX_RECORDED_BYTES,
  MAX_TOOL_TIMEOUT_SECONDS,
} from '../domain/tools/tool.ts';
import { type Field, whole } from './field.ts';

export interface ToolOptions {
  /** `python`, or modules of the user's own. */
  readonly tool: readonly string[];
  /** Commands of MCP servers. */
  readonly mcp: readonly string[];
  /** Null: as the model's chat template has it. */
  readonly toolFormat: string | null;
  readonly maxToolCalls: number;
  readonly toolOutputBytes: number;
  /** Null: as the tool says. */
  readonly toolTimeoutSeconds: number | null;
}

const TOOLS = 'python, or a module of tools (./my-tools.ts, ./my_tools.py)';
const SERVERS = 'the command of an MCP server ("npx some-server")';
const FORMAT = 'the name of a tool format, such as hermes';

const many = (what: string) =>
  z.array(z.string(what).trim().min(1, what), what).max(64, 'at most 64 of them').readonly();

export const TOOL_FIELDS: { readonly [K in keyof ToolOptions]: Field<ToolOptions[K]> } = {
  tool: {
    schema: many(TOOLS),
    argument: '<what>',
    help: `a tool that the model may call: ${TOOLS}; several may be given`,
    fromText: (text) => [text],
    many: true,
  },
  mcp: {
    schema: many(SERVERS),
    argument: '<command>',
    help: `a server of tools that the model may call: ${SERVERS}; several may be given`,
    fromText: (text) => [text],
    many: true,
  },
  toolFormat: {
    schema: z.string(FORMAT).min(1, FORMAT).nullable(),
    argument: '<name>',
    help: 'how the model writes its calls; by default as its chat template has it',
  },
  maxToolCalls: {
    schema: whole(1, 1000),
    argument: '<n>',
    help: 'with tools: calls before an answer, at most; the last result says that they are used up',
  },
  toolOutputBytes: {
    schema: whole(100, MAX_RECORDED_BYTES),
    argument: '<n>',
    help: "with tools: bytes of a call's output that the model is shown; its middle is left out",
  },
  toolTimeoutSeconds: {
    schema: whole(1, MAX_TOOL_TIMEOUT_SECONDS).nullable(),
    argument: '<n>',
    help: 'with tools: time limit of a call, for tools that have none of their own',
  },
};

export const DEFAULT_TOOL_OPTIONS: ToolOptions = {
  tool: [],
  mcp: [],
  toolFormat: null,
  maxToolCalls: DEFAULT_MAX_TOOL_CALLS,
  toolOutputBytes: DEFAULT_TOOL_OUTPUT_BYTES,
  toolTimeoutSeconds: null,
};

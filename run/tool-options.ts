// The options of a run that are about tools.

import { z } from 'zod';
import {
  DEFAULT_MAX_TOOL_CALLS,
  DEFAULT_TOOL_OUTPUT_BYTES,
  MAX_RECORDED_BYTES,
  MAX_TOOL_TIMEOUT_SECONDS,
} from '../domain/tools/tool.ts';
import { option, whole } from './field.ts';

const TOOLS = 'python, or a module of tools (./my-tools.ts, ./my_tools.py)';
const SERVERS = 'the command of an MCP server ("npx some-server")';
const FORMAT = 'the name of a tool format, such as hermes';

const many = (what: string) =>
  z.array(z.string(what).trim().min(1, what), what).max(64, 'at most 64 of them').readonly();

export const TOOL_FIELDS = {
  tool: option({
    schema: many(TOOLS),
    default: [],
    argument: '<what>',
    help: `a tool that the model may call: ${TOOLS}; several may be given`,
    fromText: (text) => [text],
    many: true,
  }),
  mcp: option({
    schema: many(SERVERS),
    default: [],
    argument: '<command>',
    help: `a server of tools that the model may call: ${SERVERS}; several may be given`,
    fromText: (text) => [text],
    many: true,
  }),
  toolFormat: option({
    schema: z.string(FORMAT).min(1, FORMAT).nullable(),
    default: null,
    argument: '<name>',
    help: 'how the model writes its calls; by default as its chat template has it',
  }),
  maxToolCalls: option({
    schema: whole(1, 1000),
    default: DEFAULT_MAX_TOOL_CALLS,
    argument: '<n>',
    help: 'with tools: calls before an answer, at most; the last result says that they are used up',
  }),
  toolOutputBytes: option({
    schema: whole(100, MAX_RECORDED_BYTES),
    default: DEFAULT_TOOL_OUTPUT_BYTES,
    argument: '<n>',
    help: "with tools: bytes of a call's output that the model is shown; its middle is left out",
  }),
  toolTimeoutSeconds: option({
    schema: whole(1, MAX_TOOL_TIMEOUT_SECONDS).nullable(),
    default: null,
    argument: '<n>',
    help: 'with tools: time limit of a call, for tools that have none of their own',
  }),
};

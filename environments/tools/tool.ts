// The interface of this room: it reads the calls in a model's reply, and runs them. A tool's door (python, module, mcp) decides
// how it is run; the activity `callTool` decides whether a call may be repeated.

import type { CallTexts } from '../../domain/rollout/calls.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';

export interface ToolCall {
  readonly arguments: JsonObject;
  /** Idempotency key: the same for every retry of this call. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Awaited immediately before the tool is asked: what fails earlier has called nothing. */
  readonly before: () => Promise<void>;
}

/** `failed`: the tool itself reports a failure, which the model is told as it is. */
export interface ToolAnswer {
  readonly text: string;
  readonly outcome: 'ok' | 'failed' | 'timed-out';
  /** The last lines of the traceback of an error that it threw. */
  readonly trace?: string;
}

/** All tools of a worker. */
export interface Tools extends CallTexts {
  /** Throws ToolError if the tool could not do its work, or may not run here. */
  call(tool: ToolRecord, call: ToolCall, runFolder: string): Promise<ToolAnswer>;
  /** Ends every process it owns. */
  close(): Promise<void>;
}

// The tool that plain code is for, where a format has a place for code without JSON around it.

import { isJsonObject } from './json.ts';
import type { ToolSchema } from './reply.ts';

const NAMES = ['python', 'code_interpreter', 'ipython'];

/** Its name and the argument that takes the code: the first required one, else the first, else `code`. */
export function codeTool(tools: readonly ToolSchema[]): { readonly name: string; readonly argument: string } | null {
  const tool = tools.find(({ name }) => NAMES.includes(name));
  if (!tool) return null;
  const schema = isJsonObject(tool.parameters) ? tool.parameters : {};
  const { required, properties = null } = schema;
  const first: unknown = Array.isArray(required) ? required[0] : undefined;
  const other = isJsonObject(properties) ? Object.keys(properties)[0] : undefined;
  return { name: tool.name, argument: typeof first === 'string' ? first : (other ?? 'code') };
}

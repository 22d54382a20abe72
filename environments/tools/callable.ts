// The names by which a model calls the tools of a run. A server's own may have dots and be longer than model APIs take: each such
// tool is given a name that they take, which is no other's, and the same for the same tools in any order.

import { createHash } from 'node:crypto';
import { isToolName, type ToolRecord } from '../../domain/tools/tool.ts';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

export function callableTools(tools: readonly ToolRecord[]): readonly ToolRecord[] {
  const names = tools.map(({ name }) => (isToolName(name) ? name : callable(name)));
  const isTaken = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
  return tools.map((tool, i) => {
    if (isToolName(tool.name)) return tool;
    const name = names[i]!;
    return { ...tool, own: tool.name, name: isTaken(name) ? withHash(name, tool.name) : name };
  });
}

const callable = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, MAX_LENGTH);

const withHash = (name: string, own: string): string =>
  `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${createHash('sha256').update(own).digest('hex').slice(0, HASH_LENGTH)}`;

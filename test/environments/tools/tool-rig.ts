// Tools of one test file: described and called in a folder of their own, which is removed with them at the end.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { ToolRecord } from '../../../domain/tools/tool.ts';
import { describeTools, type ToolSpecs } from '../../../environments/tools/describe.ts';
import type { Door } from '../../../environments/tools/index.ts';
import { openTools } from '../../../environments/tools/open.ts';
import { putCode } from '../../../records/run/code.ts';

export function toolRig() {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-tools-'));
  /** What processes wrote to their log. */
  const said: string[] = [];
  const log = (line: string) => void said.push(line);
  const parts = { log, permitted: ({ spec }: ToolRecord) => spec };
  const tools = openTools({ ...parts, code: undefined });
  const doors: { close(): unknown }[] = [tools];
  afterAll(async () => {
    for (const door of doors) await door.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function listOf(specs: Partial<ToolSpecs>): Promise<readonly ToolRecord[]> {
    const all = { tool: [], mcp: [], toolTimeoutSeconds: null, ...specs };
    const { list, codes } = await describeTools(all, folder, log);
    for (const code of codes) await putCode(folder, code);
    return list;
  }
  return {
    folder,
    said,
    parts,
    listOf,
    opened: (door: Door): Door => {
      doors.push(door);
      return door;
    },
    call: (tool: ToolRecord, given: object = {}, by: Pick<Door, 'call'> = tools, key = 'r/q/0/1/2/1') =>
      by.call(
        tool,
        { arguments: given as never, key, signal: new AbortController().signal, before: async () => undefined },
        folder,
      ),
    /** The name of a file with this text. */
    written: (name: string, text: string | Buffer): string => {
      writeFileSync(join(folder, name), text);
      return `./${name}`;
    },
  };
}

export const find = (list: readonly ToolRecord[], name: string) => list.find((tool) => tool.name === name)!;

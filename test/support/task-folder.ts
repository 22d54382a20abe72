// Task directories in Harbor's layout, for tests.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const PLAIN_TASK = {
  'task.toml': '',
  'instruction.md': 'Fix it.\n',
  'tests/test.sh': '#!/bin/sh\nexit 0\n',
  'environment/Dockerfile': 'FROM scratch\nWORKDIR /app\n',
};

/** The files of each task, by its name and their paths. */
export function writeTasks(folder: string, all: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  for (const [name, files] of Object.entries(all))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), text);
    }
  return folder;
}

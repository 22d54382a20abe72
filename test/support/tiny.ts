// The shipped model for tests, and its facts from PyTorch.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../../inference/backend.ts';
import { createBackend } from '../../inference/index.ts';

const root = join(import.meta.dirname, '../..');
export const TINY_FOLDER = join(root, 'models/tiny');

export function openTiny(log: (line: string) => void = () => undefined): Promise<Backend> {
  return createBackend('tiny', { tokenizer: null, log });
}

export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(root, 'test/fixtures', name), 'utf8'));
}

// The shipped model for tests, and its facts from PyTorch.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TokenBackend } from '../../inference/backend.ts';
import { createTokenBackend } from './kinds.ts';

const root = join(import.meta.dirname, '../..');
export const TINY_FOLDER = join(root, 'models/tiny');

export function openTiny(log: (line: string) => void = () => undefined): Promise<TokenBackend> {
  return createTokenBackend('tiny', { tokenizer: null, log });
}

export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(root, 'test/fixtures', name), 'utf8'));
}

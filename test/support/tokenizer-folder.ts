// A tokenizer in a folder of its own, as a model folder has it.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelSource } from '../../inference/tokenizer/model-source.ts';

export interface TokenizerTexts {
  readonly json: string;
  readonly config: string;
  readonly template?: string;
}

export function tokenizerFolder({ json, config, template }: TokenizerTexts, name = 'trained'): ModelSource {
  const path = mkdtempSync(join(tmpdir(), 'everturn-tokenizer-'));
  writeFileSync(join(path, 'tokenizer.json'), json);
  writeFileSync(join(path, 'tokenizer_config.json'), config);
  if (template !== undefined) writeFileSync(join(path, 'chat_template.jinja'), template);
  return { kind: 'folder', path, name };
}

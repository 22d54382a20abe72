// Folders of adapters as PEFT saves them: small, with tensors of which nobody computes anything.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Other `words` are other files; with `zero` its `lora_B` is zero. Returns the folder. */
export function adapterFolder(folder: string, words = folder, zero = false): string {
  mkdirSync(folder, { recursive: true });
  const key = 'base_model.model.model.layers.0.self_attn.q_proj';
  const tensor = (from: number) => ({ dtype: 'F32', shape: [1, 4], data_offsets: [from, from + 16] });
  const header = JSON.stringify({ [`${key}.lora_A.weight`]: tensor(0), [`${key}.lora_B.weight`]: tensor(16) });
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const b = zero ? Buffer.alloc(16) : Buffer.from(words.slice(-16).padEnd(16, '.'));
  writeFileSync(
    join(folder, 'adapter_model.safetensors'),
    Buffer.concat([size, Buffer.from(header), Buffer.alloc(16, 7), b]),
  );
  writeFileSync(join(folder, 'adapter_config.json'), JSON.stringify({ peft_type: 'LORA', r: 1, words }));
  return folder;
}

// A store that holds these records, whatever their rollout, and notes what is put: for an activity alone.

import { createHash } from 'node:crypto';
import type { RecordKind, Store } from '../../records/store.ts';

export function heldStore(
  held: { readonly [K in RecordKind]?: (turn: number) => object | undefined },
  puts: { readonly [K in RecordKind]?: object[] } = {},
): Partial<Store> {
  return {
    folder: '/runs/r',
    async get(kind, ...[, turn]) {
      const record = held[kind]?.(turn as number);
      return record && ({ record, hash: `h${typeof turn === 'number' ? turn : 0}` } as never);
    },
    async put(kind, _, record) {
      puts[kind]?.push(record);
      return { record, hash: 'h' } as never;
    },
    putExperts: async (data) => ({ sha256: createHash('sha256').update(data).digest('hex'), bytes: data.length }),
    dropChunks: async () => undefined,
  };
}

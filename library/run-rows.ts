// The rows of a run, each as the line of `everturn export --format rows`.

import { StoreError } from '../domain/errors/errors.ts';
import { exporterNamed } from '../formats/exports/index.ts';
import { exportedParts } from '../records/export/exported-parts.ts';
import { mustHoldAll } from '../records/run/present.ts';
import type { Store } from '../records/store.ts';
import { filterOf, readingOf } from './export-plan.ts';
import type { Row, RowsOptions } from './run-handle.ts';

export async function* runRows(store: Store, options: RowsOptions): AsyncGenerator<Row> {
  for await (const line of rowLines(store, options)) yield JSON.parse(line) as Row;
}

/** Each without its newline. */
export async function* rowLines(store: Store, options: RowsOptions): AsyncGenerator<string> {
  const { advantages = 'none', texts = false, onSkip } = options;
  const reading = readingOf(options);
  const own = filterOf(options);
  const run = (await store.get('run'))?.record;
  await mustHoldAll(store);
  const filter = own ?? run?.keep;
  const exporter = exporterNamed('rows', texts ? 'texts' : 'rollout');
  for await (const part of exportedParts(store, exporter, { ...reading, advantages, ...(filter && { filter }) })) {
    for (const one of part.skipped) {
      if (onSkip) onSkip(one);
      else if (one.outcome === 'broken')
        throw new StoreError(`${store.folder}: ${one.problem}`, {
          reason: 'record-broken',
          fix: `Run \`everturn check ${store.folder}\` to list every fault.`,
        });
    }
    const text = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.length).toString();
    yield* text.split('\n').slice(0, -1);
  }
}

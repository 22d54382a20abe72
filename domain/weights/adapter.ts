// An adapter as a version of a run's weights: servers load it beside the model, under a name of its own, and each request
// names it. The model under it stays the one that the run began with. Pure.

import { HASH, NAME, objectOf, orNull, TEXT, type TypeOf } from '../schema/fields.ts';

export const ADAPTER = objectOf({
  /** Its name on the servers, never given twice: their caches go by it. */
  name: NAME,
  /** The servers' label of the model under it when the run began; null: they said none. */
  base: orNull(TEXT),
  /** SHA-256 of its files. */
  hash: HASH,
});
type Adapter = TypeOf<typeof ADAPTER>;

/** The adapter that requests name, and the label of what it makes. */
export interface NamedAdapter extends Pick<Adapter, 'name' | 'base'> {
  readonly label: string;
}

/** An adapter as a server gets it. */
export interface AdapterToLoad extends Adapter, NamedAdapter {
  /** All of the run's that a server may have, the latest last. */
  readonly known: readonly NamedAdapter[];
  /** Of these, the names that requests may still hold. */
  readonly held: readonly string[];
}

interface Entry {
  readonly number: number;
  readonly label: string;
  readonly adapter?: Adapter;
}

export function adapterName(hash: string, label: string): string {
  return `everturn-${hash.slice(0, 16)}-${label.replace(/[^\w.-]/g, '_')}`;
}

export const namedAdapter = ({ label, adapter }: Entry): NamedAdapter | null =>
  adapter ? { name: adapter.name, base: adapter.base, label } : null;

/** `current`: the entry in force, whose adapter requests name until this one is in force. */
export function adapterToLoad(
  entry: Entry,
  { entries, current }: { readonly entries: readonly Entry[]; readonly current: Entry | null },
): AdapterToLoad | null {
  if (!entry.adapter) return null;
  const known = entries.flatMap((each) => namedAdapter(each) ?? []);
  const held = [entry, current].flatMap((each) => each?.adapter?.name ?? []);
  return { ...entry.adapter, label: entry.label, known, held };
}

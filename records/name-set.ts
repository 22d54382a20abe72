// A set of names by 64 bits of their hash: a million in 16 megabytes outside the heap.

import { hash } from 'node:crypto';

export class NameSet {
  /** Pairs; two zeros are a free place. */
  #slots = new Int32Array(2 * 1024);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** False if it was there. */
  add(name: string): boolean {
    if (4 * this.#count > this.#slots.length) this.#grow();
    const digest = hash('sha1', name, 'buffer');
    const isNew = place(this.#slots, digest.readInt32LE(0), digest.readInt32LE(4) | 1);
    if (isNew) this.#count++;
    return isNew;
  }

  has(name: string): boolean {
    const digest = hash('sha1', name, 'buffer');
    return slotOf(this.#slots, digest.readInt32LE(0), digest.readInt32LE(4) | 1) < 0;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2)
      if (before[at + 1] !== 0) place(this.#slots, before[at]!, before[at + 1]!);
  }
}

function place(slots: Int32Array, a: number, b: number): boolean {
  const free = slotOf(slots, a, b);
  if (free < 0) return false;
  slots[free] = a;
  slots[free + 1] = b;
  return true;
}

/** The free slot for it; -1 if it is there. */
function slotOf(slots: Int32Array, a: number, b: number): number {
  for (let at = (2 * (a >>> 0)) % slots.length; ; at = (at + 2) % slots.length) {
    if (slots[at + 1] === 0) return at;
    if (slots[at] === a && slots[at + 1] === b) return -1;
  }
}

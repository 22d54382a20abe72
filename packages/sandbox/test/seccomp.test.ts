// The system-call filter as a program: what it answers to which call.

import { describe, expect, test } from 'vitest';
import { seccompFilter } from '../seccomp.ts';

/** By their numbers on x64. */
const REFUSED = { fork: 57, mount: 165, io_setup: 206, vmsplice: 278, sched_setattr: 314, memfd_create: 319 };

describe('the filter of system calls', () => {
  test('a filter is made for the machines that are known, and for no other', () => {
    for (const machine of ['x64', 'arm64']) {
      const filter = seccompFilter(machine)!;
      expect(filter.length % 8).toBe(0);
      // A classic BPF program ends with a return and never jumps past its end.
      for (let i = 0; i < filter.length; i += 8) {
        const jump = (filter.readUInt16LE(i) & 0x07) === 0x05 ? Math.max(filter[i + 2]!, filter[i + 3]!) : 0;
        expect(i / 8 + 1 + jump).toBeLessThanOrEqual(filter.length / 8 - (jump ? 1 : 0));
      }
      expect(filter.readUInt16LE(filter.length - 8)).toBe(0x06);
    }
    expect(seccompFilter('mips')).toBeUndefined();
  });

  test('a filter refuses what it does not know, and says so as an old kernel would', () => {
    const filter = seccompFilter('x64')!;
    const rows = Array.from({ length: filter.length / 8 }, (_, i) => filter.subarray(i * 8, i * 8 + 8));
    const answer = (call: number, argument = 0): number => {
      let loaded = 0;
      for (let i = 0; ; i++) {
        const row = rows[i]!;
        const value = row.readUInt32LE(4);
        const kind = row.readUInt16LE(0);
        if (kind === 0x06) return value;
        if (kind === 0x20) loaded = { 0: call, 4: 0xc000_003e, 16: argument }[value]!;
        else i += row[{ 0x15: loaded === value, 0x35: loaded >= value, 0x45: (loaded & value) !== 0 }[kind] ? 2 : 3]!;
      }
    };
    const [allowed, refused, unknown] = [0x7fff_0000, 0x0005_0001, 0x0005_0026];
    for (const call of [0, 1, 9, 257, 449]) expect(answer(call)).toBe(allowed);
    for (const call of [435, 450, 463, 1000]) expect(answer(call)).toBe(unknown);
    for (const [name, call] of Object.entries(REFUSED)) expect(answer(call), name).toBe(refused);
    expect([answer(53, 1), answer(53, 30)]).toEqual([allowed, refused]);
    expect([answer(56, 0x0001_0000), answer(56, 0x0001_0000 | 0x1000_0000), answer(56, 17)]).toEqual([
      allowed,
      refused,
      refused,
    ]);
  });
});

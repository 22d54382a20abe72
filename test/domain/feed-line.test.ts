// Lines of weights against an oracle that remembers every rewind.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addFloor, type Floor, lineLabel, survives } from '../../domain/feed/line.ts';
import { versionNumber } from '../../domain/weights/weight-version.ts';

const span = (version: number, versionLabel?: string) => ({
  ...{ version, start: 0, end: 1 },
  ...(versionLabel === undefined ? {} : { versionLabel }),
});

describe('the floors of lines', () => {
  it('say of every weights whether a later rewind took them off', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 60 }), (rewinds) => {
        let floors: Floor[] = [];
        for (const [line, to] of rewinds.entries()) floors = addFloor(floors, line, to);
        for (let line = 0; line <= rewinds.length; line++) {
          for (let version = 0; version <= 13; version++) {
            // Rewind number n, from 0, ended line n: it comes after weights of the lines up to n.
            const ended = rewinds.some((to, n) => n >= line && version > to);
            expect(survives([span(version, lineLabel(line, version))], floors)).toBe(!ended);
            const unlabelled = survives([span(version)], floors);
            expect(unlabelled).toBe(rewinds.some((to) => version > to) ? null : true);
          }
        }
      }),
    );
  });

  it('stay few, and call no ended weights surviving', () => {
    let floors: Floor[] = [];
    for (let line = 0; line < 5000; line++) floors = addFloor(floors, line, line);
    expect(floors.length).toBeLessThanOrEqual(256);
    for (const line of [0, 10, 4000, 4990, 4999]) {
      expect(survives([span(line + 1, lineLabel(line, line + 1))], floors)).toBe(false);
    }
    expect(survives([span(4999, lineLabel(4999, 4999))], floors)).toBe(true);
  });

  it('are asked for every span: one that ended is enough', () => {
    const floors = addFloor([], 0, 3);
    expect(survives([span(3, 'line0:v3'), span(4, 'line1:v4')], floors)).toBe(true);
    expect(survives([span(3, 'line0:v3'), span(4, 'line0:v4')], floors)).toBe(false);
    expect(survives([span(4, 'step-4'), span(4, 'line0:v4')], floors)).toBe(false);
    expect(survives([span(4, 'step-4'), span(4, 'line1:v4')], floors)).toBeNull();
  });

  it('have labels that stand for their version', () => {
    for (const [line, version] of [
      [0, 0],
      [3, 17],
      [999_999_999, 2 ** 31 - 1],
    ] as const)
      expect(versionNumber(lineLabel(line, version))).toBe(version);
  });
});

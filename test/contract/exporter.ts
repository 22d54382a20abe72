// What every export format keeps: one line or more per trajectory, no line break inside, the same each
// time, and the trajectory untouched.

import { expect, test } from 'vitest';
import type { Trajectory } from '../../domain/trajectory.ts';
import type { Exporter } from '../../exporters/exporter.ts';

/** `complete` is a complete trajectory. */
export function exporterContract(name: string, exporter: Exporter, complete: Trajectory): void {
  test(`${name}: has a name, an extension and one line about itself`, () => {
    expect(exporter.name).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(exporter.extension).toMatch(/^[a-z0-9]+$/);
    expect(exporter.description).toMatch(/^.{10,90}$/);
  });

  test(`${name}: a complete trajectory becomes lines, the same each time, and stays as it was`, () => {
    const before = structuredClone(complete);
    const lines = exporter.lines(complete);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).not.toMatch(/[\r\n]/);
    expect(exporter.lines(complete)).toEqual(lines);
    expect(complete).toEqual(before);
  });
}

// What every export format keeps: one line or more per trajectory, no line break inside, the same each
// time, and the trajectory untouched.

import { expect } from 'vitest';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';

/** `complete` is a complete trajectory that the format has a place for. */
export function exporterContract(exporter: Exporter, complete: Trajectory): void {
  const { name } = exporter;
  expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
  expect(exporter.extension, name).toMatch(/^[a-z0-9]+$/);
  expect(exporter.description, name).toMatch(/^.{10,90}$/);
  const before = structuredClone(complete);
  const lines = exporter.lines(complete);
  expect(lines.length, name).toBeGreaterThan(0);
  for (const line of lines) expect(line, name).not.toMatch(/[\r\n]/);
  expect(exporter.lines(complete), name).toEqual(lines);
  expect(complete, name).toEqual(before);
}

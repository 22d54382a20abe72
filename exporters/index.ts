// The export formats by name.

import { UsageError } from '../domain/errors.ts';
import { areal } from './areal.ts';
import type { Exporter } from './exporter.ts';

export const EXPORTERS: readonly Exporter[] = [areal];

export function exporterNamed(name: string): Exporter {
  const found = EXPORTERS.find((exporter) => exporter.name === name);
  if (found) return found;
  throw new UsageError(`there is no export format ${JSON.stringify(name)}`, {
    reason: 'unknown-format',
    fix: `Choose one of: ${EXPORTERS.map((exporter) => exporter.name).join(', ')}.`,
  });
}

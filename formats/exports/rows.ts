// The neutral rows as JSON lines: one rollout a line, every token with its mask, logprob, version and turn.

import { neutralRow } from '../../domain/rollout/neutral-row.ts';
import { sampleId } from '../../domain/rollout/sample-id.ts';
import type { Exporter } from './exporter.ts';

export const rows: Exporter = {
  name: 'rows',
  extension: 'jsonl',
  fields: ['prompt_ids', 'response_ids', 'turn_ends'],
  needsIds: true,
  grouped: true,
  advantages: 'none',
  description: 'token-aligned rows, one rollout a line: what the Python package everturn reads',
  id: ({ rollout: { query, sample }, branch }) => sampleId(query.queryId, sample, branch?.index),
  lines: (trajectory, labels) => [JSON.stringify(neutralRow(trajectory, labels))],
};

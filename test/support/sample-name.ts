// What a sample's id in an export names, read back: the proof that it names one sample.

import { sampleId } from '../../domain/samples/neutral-row.ts';

export interface SampleName {
  readonly query: string;
  readonly sample: number;
}

/** The reverse of sampleId; undefined for a text that it never returns. */
export function parseSampleId(id: string): SampleName | undefined {
  const [, row, number = '0'] = /^([^@]*)(?:@([1-9]\d{0,15}))?$/s.exec(id) ?? [];
  if (row === undefined) return undefined;
  const name = { query: row.replace(/%(40|25)/g, (_, code) => (code === '40' ? '@' : '%')), sample: Number(number) };
  return sampleId(name.query, name.sample) === id ? name : undefined;
}

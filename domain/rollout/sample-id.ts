// A sample's id in an export: `<query>` for sample 0, `<query>@<sample>` for the others. Guarantees: two different
// (query, sample) never share an id, and the text before the first `@` names the query, so an `@` in the query's own id
// is escaped. Leaves out the run and the attempt: an export holds one run, and one attempt of each sample.

/**
 * `@` becomes `%40`. A `%` is escaped only if it could be read as the start of an escape: in a query id that contains
 * `%40` or `%25`. Any other id stays byte for byte, as the original has it.
 */
export function sampleId(query: string, sample: number): string {
  const row = query.replace(/@|%(?=40|25)/g, (char) => (char === '@' ? '%40' : '%25'));
  return sample > 0 ? `${row}@${sample}` : row;
}

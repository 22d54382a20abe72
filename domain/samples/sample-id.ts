// A sample's id in an export: `<query>` for sample 0, `<query>@<sample>` for the others; `<query>@<sample>.<branch>` for the
// further branches of an agent's rollout. Guarantees: two different
// (query, sample) never share an id, and the text before the first `@` names the query, so an `@` in the query's own id
// is escaped. Leaves out the run and the attempt: an export holds one run, and one attempt of each sample.

/**
 * `@` becomes `%40`. A `%` is escaped only if it could be read as the start of an escape: in a query id that contains
 * `%40` or `%25`. Any other id stays byte for byte, as the original has it.
 */
export function sampleId(query: string, sample: number, branch = 0): string {
  const row = query.replace(/@|%(?=40|25)/g, (char) => (char === '@' ? '%40' : '%25'));
  if (branch > 0) return `${row}@${sample}.${branch}`;
  return sample > 0 ? `${row}@${sample}` : row;
}

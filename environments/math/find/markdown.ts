// Markdown's emphasis and HTML's entities say how a text looks and not what it says: `**42**`, `*42*`, `__42__`,
// `x &lt; 5`. A `**` between values is a power and stays: `x**2`. Linear.

// It opens behind no value and before no blank, and closes behind no blank and before no value.
const EMPHASIS = ['\\*\\*', '__', '\\*'].map(
  (mark) =>
    new RegExp(`(?<![\\w)}\\]*\\\\])${mark}(?=[^\\s*_])([^*_\\n]{1,300}?)(?<=[^\\s*_])${mark}(?![\\w({*\\\\])`, 'g'),
);

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  le: '≤',
  ge: '≥',
  ne: '≠',
  amp: '&',
  nbsp: ' ',
  minus: '-',
  times: '×',
  divide: '÷',
  pi: 'π',
  deg: '°',
  radic: '√',
  plusmn: '±',
  infin: '∞',
};
const ENTITY = new RegExp(`&(${Object.keys(ENTITIES).join('|')});`, 'g');

export function withoutMarkup(text: string): string {
  let plain = text.includes('&') ? text.replace(ENTITY, (_, name: string) => ENTITIES[name] ?? '') : text;
  if (plain.includes('#')) plain = plain.replace(/^#{1,3}\s+(?=\S)/gm, '');
  if (!/[*_]/.test(plain)) return plain;
  plain = plain.replace(/^\s*[*•]\s+/gm, '');
  for (const pattern of EMPHASIS) plain = plain.replace(pattern, '$1');
  return plain;
}

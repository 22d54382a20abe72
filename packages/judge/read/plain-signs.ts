// The signs of other writings as the ASCII sign that says the same: full-width forms, marks of East Asian, Arabic and Indic sentences,
// and every decimal digit by its value. What says more stays: `²`, `½`, and `！`, which is seldom a factorial. Linear.

const MARKS: ReadonlyMap<string, string> = new Map(
  [...'。｡।۔、،؛؟【】〔〕「」『』٪\u3000'].map((mark, i) => [mark, [...'....,,;?[][]""""% '][i]!]),
);
const SIGN = new RegExp(`[${[...MARKS.keys()].join('')}\uff02-\uff5d]`, 'g');
/** No blank stands behind such a mark; in front of three digits a comma parts thousands, in front of any a colon hours. */
const CLOSED_UP =
  /[。।۔](?=[\p{L}\p{N}\\$([（【「])|[？；：،؛؟](?=[\p{L}\\$([（【「])|、(?=\S)|，(?=\S)(?!\d{3}(?!\d))/gu;
/** `١٬٢٣٤٫٥` is 1,234.5. */
const PARTED = /(?<=\d)[٫٬](?=\d)/g;

export function plainSigns(text: string): string {
  if (!/[^\x00-\u05ff]/.test(text)) return text;
  return text
    .replace(/(?![0-9])\p{Nd}/gu, digit)
    .replace(PARTED, (mark) => (mark === '٫' ? '.' : ','))
    .replace(CLOSED_UP, '$& ')
    .replace(SIGN, (sign) => MARKS.get(sign) ?? String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
}

/** Unicode holds the digits of a writing side by side, from zero on. */
function digit(sign: string): string {
  const code = sign.codePointAt(0)!;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}

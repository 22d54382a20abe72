// Notations that are rewritten before a text is read: repeating decimals (0.333…, .\overline{3}, 0.\overline3) and the
// binomials that put an index before their C. Anything else stays as it is.

const ELLIPSIS = String.raw`\s*(?:\.\.\.|…|\\[lc]?dots(?![A-Za-z]))`;
const SAME_DIGIT = new RegExp(String.raw`(\.\d{0,20}?)([1-9])\2{2,30}${ELLIPSIS}`, 'g');
const SAME_DIGITS = new RegExp(String.raw`(\.\d{0,20}?)(\d{2,12}?)\2{1,10}${ELLIPSIS}`, 'g');
const INDEX = String.raw`(?:\{([A-Za-z0-9]{1,6})\}|([A-Za-z0-9]))`;
const CHOOSE = new RegExp(String.raw`(^|[=(+*]|\{\})\s*[_^]\s*${INDEX}\s*([CP])\s*_\s*${INDEX}(?![A-Za-z0-9_^])`, 'g');
const SMALL_FRACTION = /(?<=^|\s)\^\s*\{?(\d{1,4})\}?\s*\/\s*_\s*\{?(\d{1,4})\}?/g;
const POSITIVE =
  /\\mathbb\s*\{?R\}?\s*(?:\^\s*\{?\s*\+\s*\}?|_\s*\+|_\s*\{\s*(?:\+|>\s*0|(\\geq?(?:slant)?\s*0))\s*\})/g;

export function spelledOut(text: string): string {
  let out = text;
  if (/\.\.\.|…|dots/.test(out)) {
    out = out.replace(SAME_DIGIT, '$1\\overline{$2}');
    out = out.replace(SAME_DIGITS, (all, head: string, period: string) =>
      /^0+$/.test(period) ? all : `${head}\\overline{${period}}`,
    );
  }
  // ³/₈ as it is written without its own signs.
  if (out.includes('/')) out = out.replace(SMALL_FRACTION, '\\frac{$1}{$2}');
  if (out.includes('overline'))
    out = out
      .replace(/(\.\d{0,40})\\overline\s*(\d)(?!\d)/g, '$1\\overline{$2}')
      .replace(/(?<![\d.])\.\\overline(?=\{\d)/g, '0.\\overline');
  if (out.includes('mathbb'))
    out = out.replace(POSITIVE, (_, closed?: string) => (closed ? '[0, \\infty)' : '(0, \\infty)'));
  if (out.includes('Rs')) out = out.replace(/(?<![A-Za-z])Rs\.?\s*(?=\d)/, '₹');
  if (!/[CP]/.test(out)) return out;
  return out.replace(
    CHOOSE,
    (_, before: string, n1: string | undefined, n2: string, which: string, k1: string | undefined, k2: string) =>
      `${before === '{}' ? '' : before}${which}(${n1 ?? n2}, ${k1 ?? k2})`,
  );
}

// One spelling for one sign: Unicode mathematics, typographic dashes and blanks, markdown emphasis and escaped
// LaTeX are rewritten before anything is read. One pass, linear.

const SIGNS: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '﹣': '-',
  '×': '\\times ',
  '✕': '\\times ',
  '⋅': '\\cdot ',
  '·': '\\cdot ',
  '∙': '\\cdot ',
  '•': '\\cdot ',
  '∗': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '≤': '\\le ',
  '⩽': '\\le ',
  '≦': '\\le ',
  '≥': '\\ge ',
  '⩾': '\\ge ',
  '≧': '\\ge ',
  '≠': '\\ne ',
  '≈': '\\approx ',
  '≃': '\\approx ',
  '≅': '\\approx ',
  '≡': '\\equiv ',
  '±': '\\pm ',
  '∓': '\\mp ',
  '√': '\\sqrt ',
  '∛': '\\cbrt ',
  '∜': '\\sqrt[4]',
  ℎ: 'h',
  ℯ: 'e',
  ⅇ: 'e',
  ⅈ: 'i',
  '∞': '\\infty ',
  '∈': '\\in ',
  '∉': '\\notin ',
  '∪': '\\cup ',
  '∩': '\\cap ',
  '∖': '\\setminus ',
  '∅': '\\emptyset ',
  Ø: '\\emptyset ',
  ℝ: '\\mathbb{R}',
  ℤ: '\\mathbb{Z}',
  ℕ: '\\mathbb{N}',
  ℚ: '\\mathbb{Q}',
  ℂ: '\\mathbb{C}',
  π: '\\pi ',
  α: '\\alpha ',
  β: '\\beta ',
  γ: '\\gamma ',
  δ: '\\delta ',
  ε: '\\epsilon ',
  θ: '\\theta ',
  λ: '\\lambda ',
  μ: '\\mu ',
  ρ: '\\rho ',
  σ: '\\sigma ',
  τ: '\\tau ',
  φ: '\\phi ',
  ϕ: '\\phi ',
  ω: '\\omega ',
  Δ: '\\Delta ',
  Ω: '\\Omega ',
  Γ: '\\Gamma ',
  '°': '^{\\circ}',
  º: '^{\\circ}',
  '℃': '^{\\circ}C',
  '℉': '^{\\circ}F',
  '′': "'",
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '、': ',',
  '。': '.',
  '⟨': '\\langle ',
  '⟩': '\\rangle ',
  '…': '\\ldots ',
  '⋯': '\\ldots ',
  '∑': '\\sum ',
  '∏': '\\prod ',
  '∫': '\\int ',
  '½': '\\frac{1}{2}',
  '⅓': '\\frac{1}{3}',
  '⅔': '\\frac{2}{3}',
  '¼': '\\frac{1}{4}',
  '¾': '\\frac{3}{4}',
  '⅕': '\\frac{1}{5}',
  '⅖': '\\frac{2}{5}',
  '⅗': '\\frac{3}{5}',
  '⅘': '\\frac{4}{5}',
  '⅙': '\\frac{1}{6}',
  '⅚': '\\frac{5}{6}',
  '⅛': '\\frac{1}{8}',
  '⅜': '\\frac{3}{8}',
  '⅝': '\\frac{5}{8}',
  '⅞': '\\frac{7}{8}',
  '∣': '|',
  '∠': '\\angle ',
  '△': '\\triangle ',
  '⇒': '\\Rightarrow ',
  '∴': '',
  '¢': '\\text{ cents}',
  '\u00a0': ' ',
  '\u2002': ' ',
  '\u2003': ' ',
  '\u2007': ' ',
  '\u3000': ' ',
  '\u200b': '',
  '\u200c': '',
  '\u200d': '',
  '\u2060': '',
  '\u2061': '',
  '\u2062': '',
  '\ufeff': '',
  '\u200e': '',
  '\u200f': '',
};

const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ';
const SUPER_PLAIN = '0123456789+-=()abcdefghijklmnoprstuvwxyz';
const LOWER = '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ';
const LOWER_PLAIN = '0123456789+-=()aehijklmnoprstuvx';
/** `¹⁄₂` is one half. */
const SMALL_FRACTION = /([⁰¹²³⁴-⁹]{1,20})[⁄/]([₀-₉]{1,20})/g;
const digits = (text: string, alphabet: string): string => [...text].map((c) => alphabet.indexOf(c)).join('');

/** The plain letter or digit of the mathematical alphabets, of full-width writing, or the character itself. */
function plainCharacter(c: string): string {
  const code = c.codePointAt(0) ?? 0;
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code < 0x1d400 || code > 0x1d7ff) return c;
  if (code >= 0x1d7ce) return String.fromCharCode(((code - 0x1d7ce) % 10) + 48);
  if (code < 0x1d6a4) {
    const place = (code - 0x1d400) % 52;
    return String.fromCharCode(place < 26 ? place + 65 : place - 26 + 97);
  }
  const place = (code - 0x1d6a8) % 58;
  return String.fromCharCode(place < 26 ? 0x391 + place : 0x3b1 + place - 26);
}

/** `7th`, `7^{\text{th}}` */
const ENDING = '(?:st|nd|rd|th)';
const ORDINAL = new RegExp(
  `(?<=\\d)\\s?(?:\\^?\\s?\\{\\s?\\\\(?:text|mathrm)\\{${ENDING}\\}\\s?\\}|\\^?\\\\(?:text|mathrm)\\{${ENDING}\\}|\\^\\{${ENDING}\\}|${ENDING}(?![A-Za-z]))(?!\\s*(?:\\\\(?:text|mathrm)\\{)?\\s*(?!(?:and|or|of|term|day|row|place|floor|grade|position|century|month|year|week|root)(?![a-z]))[a-z]{2})`,
  'g',
);

export function respell(source: string): string {
  const text = (source.includes('\\\\begin') ? source.replaceAll('\\\\', '\\') : source).replace(ORDINAL, '');
  let ascii = true;
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 126) {
      ascii = false;
      break;
    }
  }
  if (ascii) return text;
  let out = '';
  let script = '';
  let scriptKind = '';
  const flush = (): void => {
    if (script !== '') out += `${scriptKind}{${script}}`;
    script = '';
  };
  const fractions = text.replace(
    SMALL_FRACTION,
    (_, top: string, bottom: string) => `\\frac{${digits(top, SUPER)}}{${digits(bottom, LOWER)}}`,
  );
  for (const c of fractions) {
    const up = SUPER.indexOf(c);
    const down = up < 0 ? LOWER.indexOf(c) : -1;
    if (c > '~' && (up >= 0 || down >= 0)) {
      const kind = up >= 0 ? '^' : '_';
      if (kind !== scriptKind) flush();
      scriptKind = kind;
      script += (up >= 0 ? SUPER_PLAIN[up] : LOWER_PLAIN[down]) ?? '';
      continue;
    }
    flush();
    const plain = plainCharacter(c);
    out += Object.hasOwn(SIGNS, plain) ? SIGNS[plain] : plain;
  }
  flush();
  return out;
}

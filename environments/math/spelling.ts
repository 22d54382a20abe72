// One spelling for one sign: Unicode mathematics, typographic dashes and blanks, markdown emphasis and escaped
// LaTeX are rewritten before anything is read. One pass, linear.

const SIGNS: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '﹣': '-',
  '－': '-',
  '＋': '+',
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
  '／': '/',
  '＝': '=',
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
  '＜': '<',
  '＞': '>',
  '±': '\\pm ',
  '∓': '\\mp ',
  '√': '\\sqrt ',
  '∛': '\\cbrt ',
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
  '𝜋': '\\pi ',
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
  '′': "'",
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '％': '%',
  '，': ',',
  '、': ',',
  '；': ';',
  '：': ':',
  '。': '.',
  '（': '(',
  '）': ')',
  '［': '[',
  '］': ']',
  '｛': '{',
  '｝': '}',
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
  '｜': '|',
  '∣': '|',
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

const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ';
const SUPER_PLAIN = '0123456789+-()ni';
const LOWER = '₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙᵢ';

export function respell(source: string): string {
  const text = source.includes('\\\\begin') ? source.replaceAll('\\\\', '\\') : source;
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
  for (const c of text) {
    const up = SUPER.indexOf(c);
    const down = up < 0 ? LOWER.indexOf(c) : -1;
    if (c > '~' && (up >= 0 || down >= 0)) {
      const kind = up >= 0 ? '^' : '_';
      if (kind !== scriptKind) flush();
      scriptKind = kind;
      script += SUPER_PLAIN[up >= 0 ? up : down] ?? '';
      continue;
    }
    flush();
    const code = c.codePointAt(0) ?? 0;
    // Full-width digits and letters, and the mathematical alphabets' digits.
    if (code >= 0xff10 && code <= 0xff19) out += String.fromCharCode(code - 0xff10 + 48);
    else if ((code >= 0xff21 && code <= 0xff3a) || (code >= 0xff41 && code <= 0xff5a))
      out += String.fromCharCode(code - 0xfee0);
    else if (code >= 0x1d7ce && code <= 0x1d7ff) out += String.fromCharCode(((code - 0x1d7ce) % 10) + 48);
    else out += Object.hasOwn(SIGNS, c) ? SIGNS[c] : c;
  }
  flush();
  return out;
}

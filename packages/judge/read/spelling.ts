// One spelling for one sign: Unicode mathematics, typographic dashes and blanks, markdown emphasis and escaped
// LaTeX are rewritten before anything is read, repeating decimals get the usual form. Linear.

import { numberWord } from './number-words.ts';

/** Characters that have one spelling, and that spelling; a command takes a blank behind it. */
const SIGNS = new Map(
  String.raw`
  −–—‐‑﹣ -  ×✕ \times  ⋅·∙• \cdot  ∗ *  ÷∕⁄ /  ≤⩽≦ \le  ≥⩾≧ \ge  ≠ \ne  ≈≃≅ \approx  ≡ \equiv  ± \pm  ∓ \mp  √ \sqrt
  ∛ \cbrt  ∜ \sqrt[4]  ℎ h  ℯⅇ e  ⅈ i  ∞ \infty  ∈ \in  ∉ \notin  ∪ \cup  ∩ \cap  ∖ \setminus  ∅Ø \emptyset
  ℝ \mathbb{R}  ℤ \mathbb{Z}  ℕ \mathbb{N}  ℚ \mathbb{Q}  ℂ \mathbb{C}  π \pi  α \alpha  β \beta  γ \gamma  δ \delta
  ε \epsilon  θ \theta  λ \lambda  μ \mu  ρ \rho  σ \sigma  τ \tau  φϕ \phi  ω \omega  Δ \Delta  Ω \Omega  Γ \Gamma
  °º ^{\circ}  ℃ ^{\circ}C  ℉ ^{\circ}F  ′’‘ '  “” "  、 ,  。 .  ⟨ \langle  ⟩ \rangle  …⋯ \ldots  ∑ \sum  ∏ \prod
  ∫ \int  ½ \frac{1}{2}  ⅓ \frac{1}{3}  ⅔ \frac{2}{3}  ¼ \frac{1}{4}  ¾ \frac{3}{4}  ⅕ \frac{1}{5}  ⅖ \frac{2}{5}
  ⅗ \frac{3}{5}  ⅘ \frac{4}{5}  ⅙ \frac{1}{6}  ⅚ \frac{5}{6}  ⅛ \frac{1}{8}  ⅜ \frac{3}{8}  ⅝ \frac{5}{8}
  ⅞ \frac{7}{8}  ∣ |  ∠ \angle  △ \triangle  ⇒⟹ \Rightarrow  ⇔⟺ \iff  ¢ \text{_cents}
`
    .trim()
    .split(/\s{2,}/)
    .flatMap((row) => {
      const [characters = '', plain = ''] = row.split(' ');
      const spelled = plain.replace('_', ' ') + (/\\[A-Za-z]+$/.test(plain) ? ' ' : '');
      return [...characters].map((c): [string, string] => [c, spelled]);
    }),
);
const BLANKS = /[\u00a0\u2002\u2003\u2007\u3000]/g;
const INVISIBLE = /[\u200b-\u200f\u2060-\u2062\ufeff∴]/g;

const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ';
const SUPER_PLAIN = '0123456789+-=()abcdefghijklmnoprstuvwxyz';
const LOWER = '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ';
const LOWER_PLAIN = '0123456789+-=()aehijklmnoprstuvx';
const [RAISED, LOWERED] = [SUPER, LOWER].map((signs) => new RegExp(`[${signs}]+`, 'g')) as [RegExp, RegExp];
/** The plain letter or digit of the mathematical alphabets and of full-width writing, or the character itself. */
const plainCharacter = (c: string): string => (/[\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u.test(c) ? c.normalize('NFKC') : c);

const ELLIPSIS = String.raw`\s*(?:\.\.\.|…|\\[lc]?dots(?![A-Za-z]))`;
const SAME_DIGIT = new RegExp(String.raw`(\.\d{0,20}?)([1-9])\2{2,30}${ELLIPSIS}`, 'g');
const SAME_DIGITS = new RegExp(String.raw`(\.\d{0,20}?)(\d{2,12}?)\2{1,10}${ELLIPSIS}`, 'g');

const DOT = String.raw`\\dot\s*(?:\{\d\}|\d)`;
/** Dots over the first and the last digit of a period, or over each. */
const DOTTED = new RegExp(String.raw`(\.\d{0,40})((?:${DOT}){1,40}|${DOT}\d{0,40}${DOT})(?!\d|\\dot)`, 'g');

/** 0.333…, .\overline{3}, 0.\overline3 and 0.\dot3 as 0.\overline{3}. */
function withPeriods(text: string): string {
  if (!/\.\.\.|…|dot|overline/.test(text)) return text;
  return text
    .replace(SAME_DIGIT, '$1\\overline{$2}')
    .replace(SAME_DIGITS, (all, head: string, period: string) =>
      /^0+$/.test(period) ? all : `${head}\\overline{${period}}`,
    )
    .replace(DOTTED, (_, head: string, period: string) => `${head}\\overline{${period.replace(/\D/g, '')}}`)
    .replace(/(\.\d{0,40})\\overline\s*(\d)(?!\d)/g, '$1\\overline{$2}')
    .replace(/(?<![\d.])\.\\overline(?=\{\d)/g, '0.\\overline');
}

/** `7th`, `7^{\text{th}}` */
const ENDING = '(?:st|nd|rd|th)';
const ORDINAL = new RegExp(
  `(?<=\\d)\\s?(?:\\^?\\s?\\{\\s?\\\\(?:text|mathrm)\\{${ENDING}\\}\\s?\\}|\\^?\\\\(?:text|mathrm)\\{${ENDING}\\}|\\^\\{${ENDING}\\}|${ENDING}(?![A-Za-z]))(?!\\s*(?:\\\\(?:text|mathrm)\\{)?\\s*(?!(?:and|or|of|term|day|row|place|floor|grade|position|century|month|year|week|root)(?![a-z]))[a-z]{2})`,
  'g',
);

export function respell(source: string): string {
  const single = source.includes('\\\\begin') ? source.replaceAll('\\\\', '\\') : source;
  const text = withPeriods(single)
    .replace(ORDINAL, '')
    .replace(/\^\s*(?:\{\s*((?:\\prime\s*)+)\}|(\\prime))|\\prime/g, (all) => "'".repeat(all.split('\\').length - 1))
    .replace(/\\Pr(?![A-Za-z])/g, 'P')
    .replace(/\\not\s*(=|\\in(?![A-Za-z]))/g, (_, sign: string) => (sign === '=' ? '\\ne ' : '\\notin '))
    .replace(/\\\\\s*\[-?[\d.]{1,8}\s*(?:pt|em|ex|mm|cm|in)\]/g, '\\\\ ');
  if (!/[^\x00-~]/.test(text)) return text;
  const plain = text
    .replace(BLANKS, ' ')
    .replace(INVISIBLE, '')
    .replace(RAISED, (run) => `^{${Array.from(run, (c) => SUPER_PLAIN[SUPER.indexOf(c)]).join('')}}`)
    .replace(LOWERED, (run) => `_{${Array.from(run, (c) => LOWER_PLAIN[LOWER.indexOf(c)]).join('')}}`);
  return Array.from(plain, (c) => SIGNS.get(plainCharacter(c)) ?? plainCharacter(c)).join('');
}

const IN_WORDS =
  /(?<=(?:^|[^\d.,/^])(\d{1,12}))\s*(?:\\text\s*\{\s*)?\(([a-z][a-z -]{1,60})\)(?:\s*\})?(?=[a-z\s]{0,60}$)/i;

/** `6 (six)` says 6 twice; `7/12, or about 58.3%` says what it rounds to, which has to agree. */
function saidOnce(text: string): string {
  const [all = '', number, word = ''] = IN_WORDS.exec(text) ?? [];
  if (number !== undefined && numberWord(word.toLowerCase()) === number) return text.replace(all, ' ');
  return text.replace(/,?\s+or\s+(?:about|approximately|roughly)\s+(?=[\d.$\\])/, ' \\approx ');
}

/** `]a, b[` is `(a, b)`: only where a bracket turns outwards at an end of the whole. */
export function inward(source: string): string {
  const text = saidOnce(source);
  // `17 (pages)` counts pages.
  if (/[a-z]\)\s*$/i.test(text)) return text.replace(/(?<=\d)\s+\(([a-z ]{3,40})\)\s*$/i, ' $1');
  if (!/^\s*\]|\[\s*\$?\s*$/.test(text)) return text;
  return text.replace(/([[\]])([^[\]]*)([[\]])/g, (_, open: string, inner: string, close: string) => {
    return `${open === ']' ? '(' : '['}${inner}${close === '[' ? ')' : ']'}`;
  });
}

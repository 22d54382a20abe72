// Families of solutions: `x = 2πk, k ∈ ℤ`, `π/6 + nπ for any integer n`. The letter that runs is only a name. Over all
// integers a family is a period and a start: kπ, −kπ and (k + 1)π are one, and so are kπ and the pair 2kπ, π + 2kπ. Not
// covered: families that do not run in even steps, but by their form.

import { add, int, mul, neg, type Node, type Of } from '../base/ast.ts';
import { isAssignment, lastLink } from './relation.ts';
import { type Comparison, constant, letters } from '../value/comparison.ts';
import { replaceSymbol } from '../value/exact.ts';

export interface Family {
  readonly body: string;
  readonly letter: string;
  /** Z, N (from 0) or P (from 1). */
  readonly over: 'Z' | 'N' | 'P';
}

const MAX_CHARS = 400;
const SETS = String.raw`\\math(?:bb|bf|rm)\s*\{?([ZN])\}?\s*(?:\^\s*\{?\s*(\+)\s*\}?|_\s*\{?\s*(\+|>\s*0|\\geq?(?:slant)?\s*0)\s*\}?|_0)?`;
const KIND = '((?:positive|non-?negative|natural|whole|any|an?|some|arbitrary|all|every|each)\\s+)*';
const TAILS = [
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*(?:\b(?:for|where|with)\s+)?(?:\b(?:any|all|every|some|each)\s+)?([a-zA-Z])\s*\\in\s*${SETS}\s*\)?$`,
  ),
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*\b(?:for|with)\s+(${KIND}(?:integers?|numbers?)(?:\s+values?\s+of)?)\s+([a-zA-Z])\s*\)?$`,
  ),
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*\b(?:where|for|with)?\s*([a-zA-Z])\s+(?:is|being|are)?\s*(${KIND}(?:integers?|number))\s*\)?$`,
  ),
];

/** `2\pi k, k \in \mathbb{Z}` and the like: what is said of each whole number. */
export function familyOf(text: string): Family | undefined {
  if (text.length > MAX_CHARS || !/\\in|integer|ℤ|ℕ|∈/.test(text)) return undefined;
  const flat = text
    .replace(/ℤ/g, '\\mathbb{Z}')
    .replace(/ℕ/g, '\\mathbb{N}')
    .replace(/∈/g, '\\in ')
    .replace(/\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\\(?:Z|N)(?![A-Za-z])/g, (set) => `\\mathbb{${set.slice(1)}}`)
    .replace(/\$|\\q?quad(?![A-Za-z])|\\[,;:! ]|\\(?:left|right)(?=[(),])/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[.,;\s]+$/, '')
    .trim()
    .replace(
      /^(?:[a-z] ?\\in ?)?\\\{(.*?)(?:\\mid|\\vert|\||:)(.*\\in ?\\math.*)\\\}$/,
      (_, of: string, on: string) => {
        const own = /^ ?([a-z]) ?= ?(.*)$/.exec(on);
        return own && own[1] === of.trim() ? (own[2] ?? '') : `${of}, ${on.trim()}`;
      },
    );
  const member = TAILS[0]?.exec(flat);
  if (member) {
    const [, body = '', letter = '', set, plus, from] = member;
    const above = plus !== undefined || (from !== undefined && !from.startsWith('\\g'));
    const over = set === 'Z' && plus === undefined && from === undefined ? 'Z' : above ? 'P' : 'N';
    return named(body, letter, over);
  }
  const ahead = TAILS[1]?.exec(flat);
  const behind = ahead ? undefined : TAILS[2]?.exec(flat);
  const [body = '', letter = '', kind = ''] = ahead
    ? [ahead[1], ahead[4], ahead[2]]
    : behind
      ? [behind[1], behind[2], behind[3]]
      : [];
  if (/natural|whole/.test(kind) || !/integer/.test(kind)) return undefined;
  return named(body, letter, /positive/.test(kind) ? 'P' : /negative/.test(kind) ? 'N' : 'Z');
}

/** The letter has to run in what stands before. It is read as a k: 2m would be two metres. */
function named(body: string, letter: string, over: Family['over']): Family | undefined {
  const here = new RegExp(`(?<![A-Za-z\\\\])${letter}(?![A-Za-z])`, 'g');
  if (!here.test(body)) return undefined;
  const plain = body.replace(/[,;\s]+$/, '').replace(/,?\s*\b(?:and|where|for)$/, '');
  if (/[kn]/.test(letter) || /(?<![A-Za-z\\])k(?![A-Za-z])/.test(plain)) return { body: plain, letter, over };
  return { body: plain.replace(here, 'k'), letter: 'k', over };
}

const RUNNING = '\\running';
const MAX_PARTS = 24;

/** The bodies of two families, their letter replaced by one name; over the integers in one form where there is one. */
export function familiesOf(
  gold: Node,
  answer: Node,
  names: readonly [string, string],
  integers: boolean,
  c: Comparison,
): readonly [Node, Node] | undefined {
  const sides = [gold, answer].map((side, k) => replaceSymbol(side, names[k] ?? '', { k: 'sym', name: RUNNING }));
  const [g, a] = sides.some((side) => letters(side).has('n')) ? sides : sides.map(counting);
  const [p, q] = sides;
  if (!g || !a || !p || !q || !letters(p).has(RUNNING) || !letters(q).has(RUNNING)) return undefined;
  const [own, other] = [namesOf(p), namesOf(q)];
  if (own.length > 0 && other.length > 0 && own.join() !== other.join()) return undefined;
  // Several letters each run with the others.
  if (!integers || own.length > 1 || other.length > 1) return [g, a];
  const [x, y] = [linesOf(p, c), linesOf(q, c)];
  const period = x && y && periodOf([...x, ...y]);
  return period === undefined ? [g, a] : [inParts(x ?? [], period), inParts(y ?? [], period)];
}

/** n stands for whole numbers by convention. */
const counting = (node: Node): Node => replaceSymbol(node, RUNNING, { k: 'sym', name: 'n' });

/** The assigned name: the x of `x = kπ`. */
function namesOf(node: Node): string[] {
  const items = node.k === 'list' || node.k === 'set' ? node.items : [node];
  const names = items.map((item) => (item.k === 'rel' && item.items[0] ? [...letters(item.items[0])].join(' ') : ''));
  return [...new Set(names.filter((name) => name !== ''))].toSorted();
}

interface Line {
  readonly step: Node;
  readonly start: Node;
  readonly size: number;
  readonly from: number;
}

/** Each item as start + step·k, where it is that. */
function linesOf(node: Node, c: Comparison): Line[] | undefined {
  const items = node.k === 'list' || node.k === 'set' ? node.items : [node];
  const lines: Line[] = [];
  for (const item of items) {
    const body = isAssignment(item) ? lastLink(item) : item;
    const at = (n: number): Node => replaceSymbol(body, RUNNING, int(n));
    const [start, next, third] = [at(0), at(1), at(2)];
    const [from, to, last] = [start, next, third].map((n) => constant(n, c));
    if (from === undefined || to === undefined || last === undefined || !isLine(body)) return undefined;
    if (Math.abs(to - from) < 1e-9) return undefined;
    lines.push({ step: add([next, neg(start)]), start, size: to - from, from });
  }
  return lines;
}

/** The letter stands in no function, power or denominator: that the rest is a line then shows by its form. */
function isLine(node: Node): boolean {
  if (node.k === 'add') return node.items.every(isLine);
  if (node.k === 'neg') return isLine(node.arg);
  if (node.k === 'div') return isLine(node.top) && !letters(node.bottom).has(RUNNING);
  if (node.k === 'mul') {
    const running = node.items.filter((item) => letters(item).has(RUNNING));
    return running.length <= 1 && running.every(isLine);
  }
  return node.k === 'sym' ? node.name === RUNNING : !letters(node).has(RUNNING);
}

/** A common multiple of all steps, as so many of the first one's. */
function periodOf(lines: readonly Line[]): number | undefined {
  const first = Math.abs(lines[0]?.size ?? 0);
  for (let k = 1; k <= MAX_PARTS; k++)
    if (lines.every(({ size }) => isWhole((first * k) / Math.abs(size)))) return first * k;
  return undefined;
}

const isWhole = (n: number): boolean => Math.abs(n - Math.round(n)) < 1e-9 && Math.round(n) > 0;

/** Lines of one period, each with its start within it. The doubles only guide: what is compared holds exact numbers. */
function inParts(lines: readonly Line[], period: number): Of<'list'> {
  const items = lines.flatMap(({ step, start, size, from }): Node[] => {
    const parts = Math.min(MAX_PARTS, Math.round(period / Math.abs(size)));
    const whole = mul([int(size > 0 ? parts : -parts), step]);
    return Array.from({ length: parts }, (_, k) => {
      const begin = from + k * size;
      const turns = Math.floor(begin / period + 1e-9);
      return add([mul([whole, { k: 'sym', name: 'n' }]), start, mul([int(k), step]), mul([int(-turns), whole])]);
    });
  });
  // Lines of two families that fall together are one.
  return { k: 'list', items, join: 'or' };
}

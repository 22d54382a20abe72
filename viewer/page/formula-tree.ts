// A formula as Temml's tree, within limits, so that no text holds a page: a length, a number of steps, a number of elements,
// about 50 ms at most. Steps are counted and not timed: a slow machine renders what a fast one does. All formulas together
// take a part of the page's time; those for which none is left stay as they were written until there is. Temml itself knows
// no such limit: it is stopped at two places that every formula passes, where a token is looked for among the macros, and
// where an element gets an attribute.

import temml from 'temml';

/** A node of Temml's tree: an element, a fragment, or a text. */
export interface Node {
  readonly type?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly classes?: readonly string[];
  readonly style?: Readonly<Record<string, unknown>>;
  readonly children?: readonly Node[];
}

/** Its declaration names what a bundler does not find. */
const { __renderToMathMLTree: treeOf } = temml as unknown as {
  readonly __renderToMathMLTree: (tex: string, options: object) => Node;
};

const MOST_CHARS = 2_000;
const MOST_CHEMISTRY_CHARS = 300;
const MOST_STEPS = 4_000;
const MOST_ELEMENTS = 2_500;
const MOST_DEPTH = 50;

/**
 * Macros that a text defines can grow without end, with few signs. Commands of mhchem work on their text before any step: the
 * time of \pu doubles with each sign, so that it is not rendered, and a formula with \ce is short.
 */
const REFUSED = /\\(?:[gex]?def|let|futurelet|newcommand|renewcommand|providecommand|expandafter|pu)(?![a-zA-Z])/;
const CHEMISTRY = /\\ce(?![a-zA-Z])/;
const OPTIONS = { trust: false, throwOnError: true, maxExpand: 500, maxSize: [20, 200] as [number, number] };

export interface FormulaTree {
  readonly tree: Node;
  readonly elements: number;
}

/** Undefined if Temml cannot read it, or a limit does not hold. */
export function formulaTree(tex: string, display: boolean): FormulaTree | undefined {
  if (tex.length > (CHEMISTRY.test(tex) ? MOST_CHEMISTRY_CHARS : MOST_CHARS) || REFUSED.test(tex)) return undefined;
  stepsLeft = MOST_STEPS;
  try {
    const tree = treeOf(tex, { ...OPTIONS, macros: countedMacros(), displayMode: display });
    return { tree, elements: countElements(tree) };
  } catch {
    return undefined;
  }
}

function countElements(tree: Node): number {
  let count = 0;
  const add = ({ children = [] }: Node, depth: number): void => {
    if (depth > MOST_DEPTH || ++count > MOST_ELEMENTS) throw new RangeError('too large');
    for (const child of children) add(child, depth + 1);
  };
  add(tree, 0);
  return count;
}

let stepsLeft = MOST_STEPS;

function step(): void {
  if (--stepsLeft < 0) throw new RangeError('too long');
}

/** None at first. */
const countedMacros = (): object =>
  new Proxy(
    {},
    {
      getOwnPropertyDescriptor(macros, name) {
        step();
        return Reflect.getOwnPropertyDescriptor(macros, name);
      },
    },
  );

const type = Object.getPrototypeOf(treeOf('x', {})) as { setAttribute: (name: string, value: unknown) => void };
const { setAttribute } = type;
type.setAttribute = function (name, value) {
  step();
  setAttribute.call(this, name, value);
};

/** A browser places an element in about this time. */
const MS_OF_ELEMENT = 0.02;
const MOST_SAVED_MS = 400;
/** The part of its time that a page gives to formulas. */
const PART = 0.25;

/** `now`: milliseconds of any clock. */
export function openBudget(now: () => number) {
  let [saved, at] = [MOST_SAVED_MS, now()];
  return {
    isLeft(): boolean {
      const then = at;
      at = now();
      saved = Math.min(MOST_SAVED_MS, saved + PART * (at - then));
      return saved > 0;
    },
    spend(ms: number, elements: number): void {
      saved -= ms + elements * MS_OF_ELEMENT;
    },
  };
}

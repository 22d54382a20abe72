// A prompt template in Jinja, rendered with bounds on its work and on the size of each value: a template that loops without end is
// an error, and takes no memory. What it prints and nobody defined is an error too, where Jinja itself prints nothing.

import * as jinja from '@huggingface/jinja';

/** Its own declarations of these are lost where imports have extensions. */
interface Names {
  set(name: string, value: unknown): void;
}
interface Value {
  readonly type: string;
  readonly value: unknown;
}
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly object?: Node;
  readonly property?: Node;
  readonly computed?: boolean;
  readonly operand?: Node;
  readonly filter?: Node;
  readonly callee?: Node;
  readonly lhs?: Node;
  readonly trueExpr?: Node;
  readonly falseExpr?: Node;
  readonly right?: Node;
  readonly operator?: { readonly value: string };
}
declare class Evaluator {
  constructor(names: Names);
  run(program: unknown): Value;
  evaluate(statement: Node | undefined, names: Names): Value;
}
const { Template } = jinja;
const { Environment, Interpreter } = jinja as unknown as {
  readonly Environment: new () => Names;
  readonly Interpreter: typeof Evaluator;
};

export interface PromptTemplate {
  /** Throws `Undefined` for a row that lacks what is printed, and an Error for a template that does not end or fit. */
  render(fields: Readonly<Record<string, unknown>>): string;
}

/** The template prints what the row does not have. */
export class Undefined extends Error {
  /** `meta.title`, `'AB'[…]`; null: an expression without a name. */
  readonly printed: string | null;

  constructor(printed: string | null) {
    super(`${printed ?? 'an expression'} is printed and not defined`);
    this.printed = printed;
  }
}

const MOST_IN_A_RANGE = 10_000;
/** A step, in characters and items. */
const STEP = 1000;
const MOST_WORK = 1 << 25;
const ENDLESS = 'it is too much work: does it loop without end?';

/** Throws a SyntaxError for a text that is no template. */
export function promptTemplate(text: string): PromptTemplate {
  const { parsed } = new Template(text);
  const printed = printedIn(parsed);
  return { render: (fields) => String(new Bounded(namesWith(fields), printed).run(parsed).value) };
}

/** What is wrong with a template whatever the rows are: it does not end, or asks for nothing of a row. */
export function flawOfTemplate(text: string): string | undefined {
  const { parsed } = new Template(text);
  const interpreter = new Bounded(namesWith({}), new Set());
  try {
    interpreter.run(parsed);
  } catch (error) {
    const isEndless = error instanceof RangeError || (error instanceof Error && error.message === ENDLESS);
    return isEndless ? ENDLESS : undefined;
  }
  return interpreter.asksForField ? undefined : 'it shows nothing of a row: {{ question }} prints a field';
}

class Bounded extends Interpreter {
  readonly #printed: ReadonlySet<unknown>;
  #work = 0;
  asksForField = false;

  constructor(names: Names, printed: ReadonlySet<unknown>) {
    super(names);
    this.#printed = printed;
  }

  override evaluate(statement: Node | undefined, names: Names): Value {
    this.#add(STEP);
    const value = super.evaluate(statement, names);
    const { value: content } = value;
    if (typeof content === 'string' || Array.isArray(content)) this.#add(content.length);
    if (statement?.type === 'Identifier' && value.type === 'UndefinedValue') this.asksForField = true;
    const isNothing = value.type === 'UndefinedValue' || (value.value == null && isName(statement));
    if (isNothing && this.#printed.has(statement)) throw new Undefined(isName(statement) ? pathOf(statement!) : null);
    return value;
  }

  #add(work: number): void {
    this.#work += work;
    if (this.#work > MOST_WORK) throw new Error(ENDLESS);
  }
}

/** What a template prints, in loops, conditions and macros too; `{{ 'x' if hint }}` may print nothing. */
function printedIn(parsed: unknown): ReadonlySet<unknown> {
  const printed = new Set<unknown>();
  const add = (node: Node): void => {
    if (node.type === 'FilterExpression' && isDefault(node.filter!)) return;
    if (node.type !== 'SelectExpression') printed.add(node);
    if (node.type === 'SelectExpression') add(node.lhs!);
    if (node.type === 'Ternary') [node.trueExpr!, node.falseExpr!].forEach(add);
    if (node.type === 'BinaryExpression' && /^(?:and|or)$/.test(node.operator!.value)) add(node.right!);
    if (node.type === 'FilterExpression') add(node.operand!);
    if (node.type === 'MemberExpression') add(node.object!);
  };
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) return part.forEach(look);
    for (const [name, inner] of Object.entries(part)) {
      if (['body', 'alternate', 'defaultBlock'].includes(name) && Array.isArray(inner)) inner.forEach(add);
      look(inner);
    }
  };
  look(parsed);
  return printed;
}

const isName = (node: Node | undefined): boolean => node?.type === 'Identifier' || node?.type === 'MemberExpression';

const isDefault = (filter: Node): boolean => (filter.callee ?? filter).value === 'default';

/** As an author finds it in the template. */
function pathOf({ type, value, object, property, computed }: Node): string {
  if (type !== 'MemberExpression') return type === 'StringLiteral' ? `'${String(value)}'` : String(value ?? '…');
  return pathOf(object!) + (computed ? '[…]' : `.${String(property!.value)}`);
}

/** The names that a template has without a row. */
function namesWith(fields: Readonly<Record<string, unknown>>): Names {
  const names = new Environment();
  const constants = { true: true, false: false, none: null, True: true, False: false, None: null };
  const functions = { range, raise_exception: raise, strftime_now: now };
  for (const [name, value] of Object.entries({ ...constants, ...functions, ...fields })) names.set(name, value);
  return names;
}

function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!(count <= MOST_IN_A_RANGE)) throw new Error(ENDLESS);
  return Array.from({ length: count }, (_, i) => from + i * step);
}

function raise(message: string): never {
  throw new Error(message);
}

const now = (format: string): string => new Template('{{ strftime_now(format) }}').render({ format });

// A calculator as a tool: `everturn demo --tools`, or `everturn run <dataset> --tool examples/tools/calculator.ts`.

export const tools = [
  {
    name: 'calculate',
    description: 'The value of a formula of numbers, + - * / and parentheses.',
    effect: 'pure',
    parameters: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
    run({ expression }: { expression: string }) {
      return valueOf(expression);
    },
  },
];

function valueOf(expression: string): number {
  const alien = /[^\d\s.+\-*/()]/.exec(expression);
  if (alien) throw new Error(`${alien[0]} is no part of a formula: numbers, + - * / and parentheses are.`);
  const rest = expression.match(/\d+(?:\.\d+)?|[-+*/()]/g) ?? [];
  const value = sum(rest);
  if (rest.length > 0) throw new Error(`${rest[0]} is not expected there.`);
  return value;
}

function sum(rest: string[]): number {
  let value = product(rest);
  while (rest[0] === '+' || rest[0] === '-') value += rest.shift() === '+' ? product(rest) : -product(rest);
  return value;
}

function product(rest: string[]): number {
  let value = factor(rest);
  while (rest[0] === '*' || rest[0] === '/') value *= rest.shift() === '*' ? factor(rest) : 1 / factor(rest);
  return value;
}

function factor(rest: string[]): number {
  const next = rest.shift();
  if (next === '-') return -factor(rest);
  const value = next === '(' ? sum(rest) : Number(next);
  if (next === '(' && rest.shift() !== ')') throw new Error('A ) is missing.');
  if (Number.isNaN(value)) throw new Error(`A number is missing before ${next ?? 'the end'}.`);
  return value;
}

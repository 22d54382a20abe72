// Rows whose answers are programs that tests judge, in the layouts of their authors: HumanEval, MBPP, EvalPlus and LiveCodeBench.

import type { InputOutput, Query } from '../../domain/query/query.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { inputOutputOf } from './input-output.ts';
import { isOfRules } from './instructions.ts';
import type { Inexact, RowObject } from './names.ts';
import { checkedText, failRow, kindText } from './row-fault.ts';
import { states } from './stated.ts';
import { unpackedTests } from './unpack-tests.ts';

/** Undefined for rows of another layout. Throws a RowError. */
export function programTestsOf(row: RowObject, inexact: Inexact): Pick<Query, 'tests' | 'inputOutput'> | undefined {
  if (isHumanEval(row)) return { tests: ofHumanEval(row) };
  if (isMbpp(row)) return { tests: ofMbpp(row) };
  if (isLiveCodeBench(row)) return { inputOutput: ofLiveCodeBench(row, inexact) };
  return undefined;
}

/** The row as it asks without a template: the fields of these layouts alone do not say what the tests call. */
export function questionIn(row: RowObject): RowObject {
  if (row['input_output'] != null || row['question'] != null || row['messages'] != null) return row;
  if (isOfRules(row) && typeof row['prompt'] === 'string' && !states(row)) return { question: row['prompt'] };
  if (isMbpp(row)) {
    const lines = [row['text'] ?? row['prompt'], 'Your code should pass these tests:', ...textsIn(row, 'test_list')];
    return { question: lines.join('\n') };
  }
  if (!isLiveCodeBench(row)) return row;
  const { question_content: asked, starter_code: starter } = row;
  const [how, code] =
    typeof starter === 'string' && starter.trim() !== ''
      ? ['Begin with this code:', starter]
      : ['Read from standard input, and write to standard output.', '# YOUR CODE HERE'];
  return { question: `${checkedText('question_content', asked)}\n\n${how}\n\`\`\`python\n${code}\n\`\`\`` };
}

const isHumanEval = ({ test, entry_point: name, prompt }: RowObject): boolean =>
  test != null && name != null && typeof prompt === 'string';
const isMbpp = ({ test_list: tests, text, prompt }: RowObject): boolean =>
  tests != null && (typeof text === 'string' || typeof prompt === 'string');
const isLiveCodeBench = (row: RowObject): boolean =>
  row['public_test_cases'] != null && row['private_test_cases'] != null && typeof row['question_content'] === 'string';

type Tests = NonNullable<Query['tests']>;

const NAME = /^[A-Za-z_]\w*$/;

/** The head of a function, and tests that define `check(candidate)`. */
function ofHumanEval(row: RowObject): Tests {
  const name = checkedText('entry_point', row['entry_point']);
  if (!NAME.test(name)) failRow('entry_point', 'is no name of a function', 'Give the name alone.');
  const head = checkedText('prompt', row['prompt']);
  return {
    source: `${checkedText('test', row['test'])}\n\ncheck(${name})\n`,
    before: withEmptyBody(head),
    names: [name],
    head,
  };
}

/** The head as a function of its own, with the imports and helpers before it. */
function withEmptyBody(head: string): string {
  const [, indent = ''] = /(?:^|\n)([ \t]*)[^\n]*$/.exec(head.trimEnd()) ?? [];
  return `${head.trimEnd()}\n${indent === '' ? '    ' : indent}pass\n\n`;
}

/** Asserts; in MBPP+ they are in `test`. The reference program tells which names are the answer's. */
function ofMbpp(row: RowObject): Tests {
  const { test, code, test_setup_code: setup } = row;
  const asserts = typeof test === 'string' && test.trim() !== '' ? [test] : textsIn(row, 'test_list');
  const defined = typeof code === 'string' ? [...code.matchAll(/^(?:def|class)\s+(\w+)/gm)] : [];
  return {
    source: `${[...(typeof setup === 'string' ? [setup] : []), ...asserts].join('\n')}\n`,
    before: row['test_imports'] == null ? '' : textsIn(row, 'test_imports', 'none').join('\n'),
    names: [...new Set(defined.map(([, name]) => name!))],
  };
}

function textsIn(row: RowObject, field: string, may: 'some' | 'none' = 'some'): string[] {
  const value = row[field];
  if (!Array.isArray(value)) return failRow(field, `is ${kindText(value)}, not a list`, 'Give a list of texts.');
  if (may === 'some' && value.length === 0) failRow(field, 'is an empty list', 'Give at least one test.');
  return value.map((one: unknown, i) => checkedText(`${field}[${i}]`, one));
}

/** Cases with standard input, or calls of the function that the metadata name. */
function ofLiveCodeBench(row: RowObject, inexact: Inexact): InputOutput {
  const cases = ['public_test_cases', 'private_test_cases'].flatMap((field) => unpackedTests(field, row[field]));
  const { metadata } = row;
  const facts: unknown = typeof metadata === 'string' ? parsed('metadata', metadata) : metadata;
  const name = isObject(facts) ? facts['func_name'] : undefined;
  const inputs = cases.map(({ input }) => input);
  const outputs = cases.map(({ output }) => output);
  return inputOutputOf({ inputs, outputs, ...(name != null && { fn_name: name }) }, inexact);
}

function parsed(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return failRow(field, 'is a text that is not JSON', 'Leave it as the data set has it.');
  }
}

// Answers by hand, whole and broken: the calls in them, the fault of each, and the text that remains.

import type { ToolSchema } from '../../environments/tools/formats/format.ts';

export const TOOLS: readonly ToolSchema[] = [
  {
    name: 'f',
    description: 'Does.',
    parameters: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        s: { type: 'string' },
        b: { type: 'boolean' },
        o: { $ref: '#/$defs/Point' },
        u: { type: ['integer', 'null', 'string'] },
        e: { enum: [1, 'one'] },
        a: {},
      },
      $defs: { Point: { type: 'object', properties: { x: { type: 'number' } } } },
    },
  },
  { name: 'python', description: 'Runs.', parameters: { type: 'object', properties: { code: { type: 'string' } } } },
];
const BEGIN = '<｜tool▁calls▁begin｜>';
const CALL = '<｜tool▁call▁begin｜>';
const SEP = '<｜tool▁sep｜>';
const END = '<｜tool▁call▁end｜>';
const FINISH = '<｜tool▁calls▁end｜>';

type Row = readonly [format: string, text: string, calls: readonly unknown[], content?: string];

/** Format, answer, calls or the fault of each, and the text that remains. */
const ROWS: readonly Row[] = [
  ['hermes', 'Hello <b>', [], 'Hello <b>'],
  ['hermes', '<tool_call>{"name": "f", "arguments": {"n": 1}}', [['f', { n: 1 }]]],
  ['hermes', 'a <tool_call>{"name": "f"}</tool_call> b<|im_end|>', [['f', {}]], 'a  b'],
  ['hermes', '<tool_call>{"name": "f", "arguments": "{\\"n\\": 1}"}</tool_call>', [['f', { n: 1 }]]],
  ['hermes', '<tool_call>{"name": "f", "arguments": "x"}</tool_call>', ['its arguments are not a JSON object']],
  ['hermes', '<tool_call>{"name": "f", "n": 1}</tool_call>', ['"n" does not belong beside "name" and "arguments"']],
  ['hermes', '<tool_call>{"name": "", "arguments": {}}</tool_call>', ['its "name" is not the name of a tool']],
  ['hermes', '<tool_call>[{"name": "f", "arguments": {}}]</tool_call>', ['it is not one JSON object']],
  ['hermes', '<tool_call>{"name": "f", "arguments": {}} x</tool_call>', ['text follows its JSON object']],
  [
    'hermes',
    '<tool_call>{"name": "f", "arguments": {}, "parameters": {}}</tool_call>',
    ['it has both "arguments" and "parameters"'],
  ],
  [
    'hermes',
    '<tool_call>{"name": "f", "arguments": {"n": 1, "n": 2}}</tool_call>',
    ['the key "n" stands twice in one object'],
  ],
  [
    'hermes',
    'A<tool_call>{"name": "f" "arguments": {}}</tool_call>B<tool_call>{"name": "f"}</tool_call>C',
    ['a comma or } is missing before "\\"arguments\\": {}}</to…"', ['f', {}]],
    'ABC',
  ],
  [
    'hermes',
    '<tool_call>{"name": "f</tool_call>A<tool_call>{"name": "f"}</tool_call>',
    ['a comma or } is missing before "name\\": \\"f\\"}</tool_ca…"'],
    '',
  ],
  [
    'hermes',
    '<tool_call>{"name": \'f\'}</tool_call>A<tool_call>{"name": "f"}</tool_call>',
    ['a value is missing before "\'f\'}</tool_call>A<to…"', ['f', {}]],
    'A',
  ],
  ['qwen3-coder', '<tool_call>\n<function=f>\n</function>\n</tool_call>', [['f', {}]]],
  [
    'qwen3-coder',
    'Now.\n<function=f>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>',
    [['f', { n: 1 }]],
    'Now.',
  ],
  ['qwen3-coder', 'Write <function=name> so.', [], 'Write <function=name> so.'],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=n>1.5</parameter></function></tool_call>',
    ['the argument "n" must be an integer'],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=n>2.0</parameter><parameter=b>True</parameter></function></tool_call>',
    [['f', { n: 2, b: true }]],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=b>yes</parameter></function></tool_call>',
    ['the argument "b" must be true or false'],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=o>{"x": 1,}</parameter></function></tool_call>',
    ['the argument "o" must be a JSON object: a key in double quotes is missing before "}"'],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=u>None</parameter><parameter=e>one</parameter><parameter=a>[1]</parameter></function></tool_call>',
    [['f', { u: null, e: 'one', a: [1] }]],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=u>x</parameter><parameter=e>1</parameter><parameter=z>1 2</parameter></function></tool_call>',
    [['f', { u: 'x', e: 1, z: '1 2' }]],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=s>a</parameter><parameter=s>b</parameter></function></tool_call>',
    ['the argument "s" stands twice'],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=s>1<parameter=n>2</parameter></function></tool_call>',
    ['</parameter> is missing before <parameter='],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=s>1</parameter> x <parameter=n>2</parameter></function></tool_call>',
    ['neither <parameter= nor </function> follows </parameter>'],
  ],
  [
    'qwen3-coder',
    '<tool_call><function=f><parameter=s>a</parameter>b</parameter></function></tool_call>',
    [['f', { s: 'a</parameter>b' }]],
  ],
  ['qwen3-coder', '<tool_call><function=f><parameter=s>a</tool_call>', ['</parameter> is missing']],
  ['qwen3-coder', '<tool_call>{"name": "f", "arguments": {}}</tool_call>', ['<function=NAME> is missing']],
  [
    'qwen3-coder',
    '<tool_call><function=f></function>x</tool_call>',
    ['text stands between </function> and </tool_call>'],
  ],
  ['glm', '<tool_call>f</tool_call>', [['f', {}]]],
  [
    'glm',
    '<tool_call>f\n<arg_key>n</arg_key>\n<arg_value>x</arg_value>\n</tool_call>',
    ['the argument "n" must be an integer'],
  ],
  ['glm', '<tool_call>f<arg_key>s</arg_key></tool_call>', ['<arg_value> is missing behind </arg_key>']],
  [
    'glm',
    '<tool_call>f<arg_key>s</arg_key><arg_value>1<arg_key>n</arg_key><arg_value>2</arg_value></tool_call>',
    ['</arg_value> is missing before <arg_key>'],
  ],
  [
    'glm',
    '<tool_call>two words</tool_call>ok<|observation|>',
    ['the name of a tool is missing behind <tool_call>'],
    'ok',
  ],
  ['glm', '<tool_call>f', ['</tool_call> is missing']],
  ['llama3', '{"answer": 4}', [], '{"answer": 4}'],
  ['llama3', '{"name": "Ann", "age": 4}', [], '{"name": "Ann", "age": 4}'],
  [
    'llama3',
    '{"name": "f", "parameters": {"n": 1}}; {"name": "g", "parameters": {}}<|eom_id|>',
    [
      ['f', { n: 1 }],
      ['g', {}],
    ],
  ],
  ['llama3', 'I call {"name": "f", "parameters": {}} now.', [['f', {}]], 'I call  now.'],
  ['llama3', 'As in {"name": "other", "parameters": {}}.', [], 'As in {"name": "other", "parameters": {}}.'],
  ['llama3', '{"name": "f", "parameters": {"n": 1}', ['a comma or } is missing: the text ends']],
  ['llama3', '<|python_tag|>{"query": 1}<|eom_id|>', ['its "name" is not the name of a tool']],
  ['llama3', '<|python_tag|>f.call(s="a "b", c", u="d")<|eom_id|>', [['f', { s: 'a "b", c', u: 'd' }]]],
  ['llama3', '<|python_tag|>f.call(s="a", s="b")', ['the argument "s" stands twice']],
  ['llama3', '<|python_tag|>f.call(1)', ['an argument is not written as key="value"']],
  ['llama3', 'So:<|python_tag|>print("a")\n<|eom_id|>', [['python', { code: 'print("a")' }]], 'So:'],
  [
    'mistral',
    '[TOOL_CALLS] [{"name": "f", "arguments": {"n": 1}}, {"name": "f", "arguments": {}}]</s>',
    [
      ['f', { n: 1 }],
      ['f', {}],
    ],
  ],
  [
    'mistral',
    'Yes.[TOOL_CALLS]f{"n": 1}[TOOL_CALLS]f[ARGS]{"n": 2}',
    [
      ['f', { n: 1 }],
      ['f', { n: 2 }],
    ],
    'Yes.',
  ],
  [
    'mistral',
    '[TOOL_CALLS][{"name": "f", "arguments": {}}, {"name": }]',
    [['f', {}], 'a value is missing before "}]"'],
  ],
  ['mistral', '[TOOL_CALLS][]', ['its list is empty']],
  ['mistral', '[TOOL_CALLS]f{"n": 1', ['a comma or } is missing: the text ends']],
  ['mistral', '[TOOL_CALLS]', ['neither a list nor the name of a tool stands behind [TOOL_CALLS]']],
  ['deepseek', `${BEGIN}${CALL}function${SEP}f\n\`\`\`json\n{"n": 1}\n\`\`\`${END}${FINISH}`, [['f', { n: 1 }]]],
  [
    'deepseek',
    `Yes ${BEGIN}${CALL}f${SEP}{"n": 1}${END}${CALL}f${SEP}{"n": }${END}${FINISH}`,
    [['f', { n: 1 }], 'a value is missing before "}<｜tool▁call▁end｜><｜…"'],
    'Yes',
  ],
  ['deepseek', `${BEGIN}${CALL}f${SEP}4${END}${FINISH}`, ['its arguments are not a JSON object']],
  ['deepseek', `${BEGIN}${CALL}f${END}${FINISH}`, ['<｜tool▁sep｜> is missing']],
  [
    'deepseek',
    `${BEGIN}${CALL}function${SEP}f\n\`\`\`json\n{"n": 1}${END}${FINISH}`,
    ['the block of JSON is not closed'],
  ],
  ['gpt-oss', '<|channel|>final<|message|>Four.<|return|>', [], 'Four.'],
  ['gpt-oss', ' to=functions.f<|channel|>commentary json<|message|>{"n": 1}<|call|>', [['f', { n: 1 }]]],
  [
    'gpt-oss',
    '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"s": "<|call|>"}<|call|>',
    [['f', { s: '<|call|>' }]],
    'I look.',
  ],
  [
    'gpt-oss',
    '<|channel|>commentary to=functions.f<|message|>{"n": }<|call|>',
    ['a value is missing before "}<|call|>"'],
  ],
  ['gpt-oss', '<|channel|>commentary to=browser.open<|message|>{}<|call|>', ['"browser.open" is not functions.NAME']],
  ['gpt-oss', '<|channel|>analysis to=python code<|message|>print(1)<|call|>', [['python', { code: 'print(1)' }]]],
  ['gpt-oss', 'Four.', [], 'Four.'],
];

export const ANSWERS = ROWS.map(([format, text, calls, content = '']) => ({ format, text, calls, content }));

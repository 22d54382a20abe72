// Our parsers beside vLLM's and SGLang's own: on 200 calls a family they read the same, or a reason says why not. On
// answers by hand, broken ones among them, the differences are counted and shown.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isBad, toolFormatNamed } from '../../../environments/tools/formats/format.ts';
import { ANSWERS, TOOLS } from '../../support/broken-answers.ts';
import { someTask } from '../../support/meant-calls.ts';
import { randomSource } from '../../support/texts.ts';
import { openToolFamily, TOOL_FAMILIES, type Meant } from '../../support/tool-families.ts';
import { askPeer, PARSERS, type Asked, type PeerKind } from '../../environments/tools/peer.ts';

const CALLS = 200;

interface Written extends Asked {
  readonly calls: readonly Meant[];
}

/** The reasons for which a peer may read a call in another way; `of`: the families whose parser does. */
const REASONS: readonly {
  readonly name: string;
  readonly of: RegExp;
  readonly holds: (one: Written) => boolean;
}[] = [
  {
    name: 'a value holds a tag of the format',
    of: /qwen|mistral|ministral|glm|gpt-oss/,
    holds: ({ calls }) =>
      /<\/?(?:tool_call|function|parameter|arg_value|think)>|\[(?:TOOL_CALLS|ARGS)\]|<\|/.test(JSON.stringify(calls)),
  },
  {
    name: 'an argument without a type in its schema is JSON',
    of: /qwen3-coder|glm/,
    holds: ({ calls, tools }) =>
      calls.some((call) =>
        Object.entries(call.arguments).some(
          ([key, value]) => typeof value === 'object' && value !== null && !schemaOf(tools, call, key).type,
        ),
      ),
  },
  {
    name: 'null is read as the text None',
    of: /qwen3-coder|glm/,
    holds: ({ calls }) => calls.some((call) => Object.values(call.arguments).includes(null)),
  },
  {
    name: 'a tool has a name with other characters than letters, digits and _',
    of: /gpt-oss/,
    holds: ({ calls }) => calls.some(({ name }) => /[^A-Za-z0-9_]/.test(name)),
  },
];

function schemaOf(tools: Asked['tools'], { name }: Meant, key: string): { readonly type?: unknown } {
  const { parameters } = tools.find((tool) => tool.name === name)!;
  return (parameters as { properties: Record<string, { type?: unknown }> }).properties[key]!;
}

async function writtenCalls(name: string): Promise<Written[]> {
  const family = await openToolFamily(name);
  const random = randomSource(5);
  const all: Written[] = [];
  for (let seen = 0; seen < CALLS;) {
    const { tools, calls } = someTask(random, family);
    seen += calls.length;
    const text = asPeersGetIt(name, name === 'gpt-oss' ? harmony(calls[0]!) : family.written(calls, tools));
    expect(ours(family.format.name, text, tools)).toEqual(calls);
    all.push({ family: name, text, tools, calls });
  }
  return all;
}

/** Without thinking, which servers take off first; with the space that SentencePiece puts behind [TOOL_CALLS]. */
function asPeersGetIt(name: string, text: string): string {
  const said = text.replace(/^\s*(?:<think>)?<\/think>\s*/, '');
  return name === 'mistral-nemo' ? said.replace(/^\[TOOL_CALLS\]\[/, '[TOOL_CALLS] [') : said;
}

/** As the model writes it; its template leaves <|constrain|> out. */
function harmony({ name, arguments: args }: Meant): string {
  return `<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${JSON.stringify(args)}<|call|>`;
}

function ours(format: string, text: string, tools: Asked['tools']): unknown[] {
  const { calls } = toolFormatNamed(format)!.parse(text, tools);
  return calls.map((call) => (isBad(call) ? call.error : { name: call.name, arguments: call.arguments }));
}

describe.each(['vllm', 'sglang'] as const)('%s', (kind: PeerKind) => {
  test('reads the same calls, or differs for a reason that is known', async () => {
    const names = Object.entries(PARSERS[kind]).flatMap(([name, parser]) => (parser ? [name] : []));
    const written = (await Promise.all(names.map(writtenCalls))).flat();
    const byHand = names.flatMap((family) =>
      ANSWERS.filter(({ format }) => format === TOOL_FAMILIES[family]!.format).map(({ text }) => ({
        family,
        text,
        tools: TOOLS,
      })),
    );
    const { version, answers } = await askPeer(kind, [...written, ...byHand]);
    const table: Record<string, unknown>[] = [];
    for (const name of names) {
      const rows = written.map((one, i) => ({ ...one, peer: answers[i]! })).filter(({ family }) => family === name);
      const reasonsOf = (row: Written) =>
        REASONS.filter(({ of, holds }) => of.test(name) && holds(row)).map((reason) => reason.name);
      const other = rows.filter(({ peer, calls }) => !isDeepStrictEqual(peer.calls, calls));
      for (const row of other) expect(reasonsOf(row), JSON.stringify(row)).not.toEqual([]);
      const plain = rows.filter((row) => reasonsOf(row).length === 0).length;
      expect(plain).toBeGreaterThan(rows.length / 10);
      table.push({
        family: name,
        parser: PARSERS[kind][name],
        answers: rows.length,
        same: rows.length - other.length,
        plain,
      });
      for (const [reason, rest] of grouped(other, (row) => reasonsOf(row).join('; ')))
        table.push({ differs: rest.length, reason });
    }
    const hand = byHand.map((one, i) => ({ ...one, peer: answers[written.length + i]! }));
    for (const { family, text, peer } of hand) {
      const mine = ours(TOOL_FAMILIES[family]!.format, text, TOOLS);
      const theirs = peer.calls ?? [peer.error];
      if (!isDeepStrictEqual(mine, theirs))
        table.push({ family, text, mine: JSON.stringify(mine), theirs: JSON.stringify(theirs) });
    }
    console.log(JSON.stringify({ kind, version, table }, null, 1));
  });
});

function grouped<T>(list: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

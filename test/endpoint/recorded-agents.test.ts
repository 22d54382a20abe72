// Real clients, as they were recorded: plain loops extend exactly, a rerun finds its finished calls, faults join the call that
// they repeat, and whatever else they do is a branch with its name.

import { describe, expect, test } from 'vitest';
import {
  abandonedCalls,
  unclaimedCalls,
  claimCall,
  claimsOfAttempt,
  withConnectionEnded,
} from '../../domain/agent/claims.ts';
import type { PlayedCall } from '../../domain/context/call-context.ts';
import type { AskedRequest } from '../../domain/agent/conversation.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { RefusedRequest } from '../../endpoint/dialects/dialect.ts';
import { CLIENTS, idsThrough, Player, recorded, tokenizer } from './recorded-agents.ts';

/** What a client does besides one loop of calls: the branch of each of its calls. */
const BRANCHES: Readonly<Record<string, readonly (string | null)[]>> = {
  'smolagents-code': [null, 'foreign-reply', 'foreign-reply', 'foreign-reply'],
  'smolagents-tools': [null, 'foreign-reply', 'foreign-reply', 'foreign-reply'],
  'structured-langchain': [null, 'new-conversation', 'new-conversation'],
  'codex-compaction': [null, 'tools-changed', 'compacted', 'tools-changed'],
};
const NOT_LINEAR = [...Object.keys(BRANCHES), 'claude-code', 'claude-code-subagents', 'openai-python-parallel'];
const LINEAR = CLIENTS.filter((client) => !NOT_LINEAR.includes(client));
/** Clients that leave the reasoning of a reply out of its echo. */
const DROPS_REASONING = /^(?:ai-sdk-openai-chat|langgraph-chat|openai-agents-(?:python|js)-chat)$/;

/** Calls that no other one extends. */
const leavesOf = (calls: readonly PlayedCall[]) => calls.filter(({ id }) => !calls.some(({ parent }) => parent === id));

async function playAll(client: string, player = new Player()) {
  const steps = [];
  for (const call of recorded(client)) steps.push(await player.play(call));
  return { player, steps };
}

describe('a loop of', () => {
  test.each(LINEAR)(
    '%s is one branch, and each context is what its call before ended with, and the new messages',
    async (client) => {
      const { player, steps } = await playAll(client);
      const contexts = steps.flatMap(({ context }) => context ?? []);
      expect(contexts.length).toBeGreaterThanOrEqual(3);
      expect(contexts.map(({ branch }) => branch)).toEqual(contexts.map(() => null));
      expect(contexts.map(({ parent }) => parent)).toEqual([null, ...player.played.slice(0, -1).map(({ id }) => id)]);
      const byId = new Map(player.played.map((call) => [call.id, call]));
      const text = await tokenizer.decode(idsThrough(player.played.at(-1)!, byId), { skipSpecialTokens: false });
      // Each message stands there once: the samples as they were drawn, and the results behind them.
      for (const { reply, request } of player.played) {
        if (reply.calls) expect(text.split(JSON.stringify(reply.calls[0]!.name)).length).toBeGreaterThan(1);
        for (const message of request.messages) {
          if (message.role === 'tool') expect(text.split(`<start>tool\n${message.text}<end>`)).toHaveLength(2);
        }
      }
      expect(text.split('<start>assistant\n')).toHaveLength(contexts.length + 1);
      expect(contexts.slice(1).every(({ reasoningDropped }) => reasoningDropped)).toBe(DROPS_REASONING.test(client));
      expect(leavesOf(player.played)).toHaveLength(1);
    },
  );

  test.each(Object.keys(BRANCHES))('%s names its branches', async (client) => {
    const { steps } = await playAll(client);
    expect(steps.map(({ context }) => context!.branch)).toEqual(BRANCHES[client]);
  });

  test.each(CLIENTS.filter((client) => client.startsWith('structured-')))(
    '%s has the form of its replies in the system text of each call',
    async (client) => {
      const { steps } = await playAll(client);
      const isForced = client === 'structured-ai-sdk-anthropic';
      const said = isForced
        ? /Call one of the tools: a reply/
        : /reply with JSON alone.*by this JSON schema:\n\{.*"sum"/is;
      for (const { request } of steps) {
        expect(request.messages[0]).toMatchObject({ role: 'system', text: expect.stringMatching(said) });
        expect(request.asks).toMatchObject(isForced ? { call: true } : { form: { kind: 'schema' } });
      }
    },
  );

  test('Claude Code is one branch beside its title call, whose schema stands in the system text', async () => {
    const { player, steps } = await playAll('claude-code');
    expect(steps.map(({ context }) => context!.branch)).toEqual([null, 'new-conversation', null, null, null]);
    const [title] = steps;
    expect(title!.request.messages[0]!.text).toMatch(/# Form of the reply\n\nReply with JSON alone.*\n\{.*\}$/s);
    expect(title!.request.flags).toContain('output_config.format stands in the system text.');
    expect(leavesOf(player.played)).toHaveLength(2);
  });

  test("Claude Code's sub-agents are branches of their own, and go on in them", async () => {
    const { player, steps } = await playAll('claude-code-subagents');
    // The main agent, five sub-agents, one in the other: four ask the same, word for word, and the last has no tool for agents.
    const branches = steps.map(({ context }) => context!.branch);
    expect(branches.slice(0, 6)).toEqual([null, 'new-conversation', null, null, null, 'tools-changed']);
    expect(branches.slice(6)).toEqual([null, null, null, null, null]);
    expect(steps.slice(0, 6).map(({ context }) => context!.parent)).toEqual([null, null, null, null, null, null]);
    const [main, , , , , last] = steps.map(({ claim }) => claim.call.id);
    expect(steps[6]!.context!.parent).toBe(last);
    expect(steps[8]!.context!.parent).toBe(main);
    expect(steps.slice(1, 6).map(({ claim }) => claim.call.occurrence)).toEqual([0, 1, 2, 3, 0]);
    expect(leavesOf(player.played)).toHaveLength(6);
  });
});

/** A new process writes the same bodies with other keys first, and other sessions. */
function elsewhere(body: JsonObject): JsonObject {
  const turned = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(turned);
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, part]) => [key, turned(part)]),
    );
  };
  return { ...(turned(body) as JsonObject), metadata: { user_id: 'another' }, user: 'another', prompt_cache_key: 'x' };
}

describe('an agent that was killed in its third call and runs again', () => {
  test.each(LINEAR.filter((client) => client !== 'codex-cut-stream'))(
    '%s gets its finished calls from their records, and goes on',
    async (client) => {
      const calls = recorded(client).filter(({ fault }) => fault === undefined);
      const player = new Player();
      for (const call of calls.slice(0, 2)) await player.play(call);
      await player.play({ ...calls[2]!, fault: 'killed' });
      player.restart();
      const again = [];
      for (const call of calls) again.push((await player.play(call, elsewhere)).claim);
      expect(again.map(({ is }) => is)).toEqual(['rerun', 'rerun', 'rerun', ...calls.slice(3).map(() => 'new')]);
      expect(player.played).toHaveLength(calls.length);
      expect(leavesOf(player.played)).toHaveLength(1);
      expect(abandonedCalls(player.claims)).toEqual([]);
    },
  );

  test('Codex diverges where a tool gives it another id, and its abandoned calls are not trained', async () => {
    const calls = recorded('codex');
    const player = new Player();
    for (const call of calls.slice(0, 3)) await player.play(call);
    player.restart();
    const chunk = (body: JsonObject) =>
      JSON.parse(JSON.stringify(body).replace(/Chunk ID: [0-9a-f]{6}/g, 'Chunk ID: 000000')) as JsonObject;
    const again = [];
    for (const call of calls) again.push(await player.play(call, chunk));
    expect(again.map(({ claim }) => claim.is)).toEqual([...['rerun', 'new', 'new', 'new']]);
    expect(unclaimedCalls(player.claims)).toHaveLength(2);
    // The tree goes on from the call that both attempts made.
    expect(again[1]!.context).toMatchObject({ branch: null, parent: again[0]!.claim.call.id });
    const abandoned = new Set(abandonedCalls(player.claims).map(({ id }) => id));
    expect(abandoned.size).toBe(2);
    expect(leavesOf(player.played)).toHaveLength(2);
    const kept = player.played.filter(({ id }) => !abandoned.has(id));
    expect(kept.map(({ id }) => id)).toEqual(again.map(({ claim: { call } }) => call.id));
    expect(leavesOf(kept)).toHaveLength(1);
  });
});

describe('a call that is asked again', () => {
  test.each([
    'openai-python-500',
    'ai-sdk-500',
    'claude-code-500',
    'codex-429',
    'codex-cut-stream',
    'openai-node-slow',
  ])('after a fault joins the call that it repeats: %s', async (client) => {
    const calls = recorded(client);
    const { player, steps } = await playAll(client);
    const failed = calls.findIndex(({ fault }) => fault !== undefined);
    expect(failed).toBeGreaterThanOrEqual(0);
    expect(steps.map(({ claim: { is } }) => is)).toEqual(calls.map((_, i) => (i === failed + 1 ? 'repeated' : 'new')));
    expect(steps[failed + 1]!.claim.call.id).toBe(steps[failed]!.claim.call.id);
    expect(player.played).toHaveLength(calls.length - 1);
  });

  test('is another occurrence while the first is open, and the same if the client says that it retries', () => {
    const [call] = recorded('openai-python-parallel');
    const request = new Player().read(call!);
    let claims = claimsOfAttempt([]);
    const ask = (retries: boolean) => {
      const { claims: after, claim: taken } = claimCall(claims, request, { retries });
      claims = after;
      return taken;
    };
    const four = recorded('openai-python-parallel').map(() => ask(false).call);
    expect(four.map(({ occurrence }) => occurrence)).toEqual([0, 1, 2, 3]);
    expect(ask(true).call.id).toBe(four[0]!.id);
    for (const { id } of four) claims = withConnectionEnded(claims, id, id !== four[2]!.id);
    expect(ask(false)).toMatchObject({ is: 'repeated', call: { id: four[2]!.id } });
    claims = claimsOfAttempt(claims.calls);
    expect(four.map(() => ask(false).call.id)).toEqual(four.map(({ id }) => id));
    expect(ask(false)).toMatchObject({ is: 'new', call: { occurrence: 4 } });
  });
});

interface Fault {
  readonly client: string;
  readonly fault: string;
  /** Seconds, what was answered, the hash of the body, the header. */
  readonly each: readonly (readonly [number, string, string, string | null])[];
}

describe('of all faults that were measured', () => {
  // Codex orders keys differently in a retry, and these are hashes of bytes; it has its own tests above.
  const faults = recorded<Fault>('faults').filter(({ client }) => client !== 'cx');

  test('no retry begins a call', () => {
    expect(faults.length).toBeGreaterThan(90);
    for (const { client, fault, each } of faults) {
      let claims = claimsOfAttempt([]);
      for (const [, answered, hash, retries] of each) {
        const request: AskedRequest = { messages: [{ role: 'user', text: hash }], tools: [], limits: {} };
        const { claims: after, claim: taken } = claimCall(claims, request, { retries: Number(retries ?? 0) > 0 });
        claims = withConnectionEnded(after, taken.call.id, answered === 'ok');
      }
      const bodies = new Set(each.map(([, , hash]) => hash));
      expect(claims.calls.length, `${client} ${fault}`).toBe(bodies.size);
    }
  });
});

describe('a request of ours that nobody could have made', () => {
  test('is refused by the field, in the words of its dialect', () => {
    const [chat] = recorded('openai-python');
    const [asked] = recorded('openai-python-responses');
    const player = new Player();
    const refusals = [
      { ...chat!, body: { ...chat!.body, n: 2 } },
      {
        ...chat!,
        body: { ...chat!.body, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      },
      { ...chat!, body: { ...chat!.body, messages: 'hello' } },
      { ...chat!, body: { ...chat!.body, response_format: { type: 'wibble' } } },
      { ...asked!, body: { ...asked!.body, previous_response_id: 'resp_000000000000000000aa' } },
      { ...asked!, body: { ...asked!.body, input: [{ type: 'item_reference', id: 'rs_1' }] } },
    ].map((call) => {
      try {
        return player.read(call);
      } catch (error) {
        return error instanceof RefusedRequest ? [error.reason, error.field] : error;
      }
    });
    expect(refusals).toEqual([
      ['unsupported-field', 'n'],
      ['unsupported-field', 'messages[0].content[0].type'],
      ['malformed', 'messages'],
      ['unsupported-field', 'response_format.type'],
      ['unknown-item', 'previous_response_id'],
      ['unknown-item', 'input[0].id'],
    ]);
  });
});

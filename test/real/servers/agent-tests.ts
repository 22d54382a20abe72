// An agent's program over a real server: some 500 calls in conversations, side by side and aside, its programs killed once in
// mid-run. Ids are compared as the server saw them, and each logprob with a forced pass of the same ids by the same server.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addedMessages } from '../../../domain/rollout/list-calls.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { openEverturn } from '../../support/everturn.ts';
import { nodesWith } from '../../support/processes.ts';
import { until } from '../../support/until.ts';
import { worstError } from './other-weights.ts';
import type { Place } from './place.ts';
import type { RealServer } from './real-server.ts';
import { openWitness } from './witness.ts';

const AGENT = join(import.meta.dirname, '../../fixtures/agents/vote.mjs');
const [ROWS, SAMPLES, MORE] = [13, 3, 5];
/** Of one rollout: three questions and a side one, which are roots, and those that go on from them. */
const [ROOTS, LINEAR] = [4, 4 + MORE];
const CALLS = ROWS * SAMPLES * (ROOTS + LINEAR);

/** Asks for three forms that the server must hold, and once for none. */
const HELD = `const forms = [{ regex: '[0-9]{2} plums' }, { ebnf: 'root ::= "yes " [0-9] | "no"' }, { guided_choice: ['red', 'blue'] }, {}];
const replies = [];
for (const form of forms) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Compute 3 + 4.' }], max_tokens: 40, ...form }) });
  replies.push((await response.json()).choices[0].message.content);
}
const isHeld = /^\\d\\d plums,(yes \\d|no),(red|blue),./.test(replies.join());
console.log(JSON.stringify({ reward: isHeld ? 1 : 0 }));
`;

/** `server`: one that gives raw logprobs. */
export function agentTests({ traits, backend, say }: Place, server: () => RealServer): void {
  test(`an agent's ${CALLS} calls extend the sampled ids, each asked once though its programs are killed, with the logprobs of a forced pass`, async () => {
    const everturn = openEverturn();
    const witness = await openWitness(server().url);
    onTestFinished(async () => {
      await everturn.close();
      witness.close();
    });
    const rows = Array.from({ length: ROWS }, (_, i) =>
      JSON.stringify({ id: `q${i}`, question: `What is ${i + 11} * 7?`, answer: `${(i + 11) * 7}`, more: MORE }),
    );
    writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.join('\n'));
    const model = ['--model', `${traits.kind}:${witness.url}`, '--max-new-tokens', '48', '--recheck-every', '0'];
    // Warmer, more tokens are other ones than their text would give.
    const sampling = ['--temperature', '1.5', '--logprobs', 'raw'];
    const agent = ['--agent', `node ${AGENT}`, '--samples', String(SAMPLES), '--max-concurrent', '6'];
    const going = everturn.start('run', 'rows.jsonl', '--name', 'agents', ...agent, ...model, ...sampling);
    await until('a third was asked', () => witness.of('agents').length > CALLS / 3, 300_000);
    const killed = nodesWith(AGENT);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    const ended = await going.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const checked = await everturn.run('check', 'agents', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);

    const asked = witness.of('agents');
    const byKey = new Map(asked.map((one) => [one.key, one]));
    expect(killed.length).toBeGreaterThan(0);
    expect([asked.length, byKey.size]).toEqual([CALLS, CALLS]);
    const { encodeRendered, decode } = backend().tokenizer;
    const [end] = await encodeRendered('<|im_end|>');
    const found = { roots: 0, linear: 0, tokens: 0, worst: 0, retokenised: 0 };
    for await (const { rollout, turns } of readTrajectories(openFileStore(join(everturn.folder, 'runs'), 'agents'))) {
      const askedAs = (turn: number) => byKey.get(`agents_${rollout.query.queryId}_${rollout.sample}_${turn}`)!;
      for (const { record } of turns) {
        const { contextIds, outputIds } = askedAs(record.turn);
        const { parent } = record.asked!;
        const before = parent === null ? [] : [...askedAs(parent).contextIds, ...askedAs(parent).outputIds!];
        // The model may have stopped at another token, or not at all.
        const lead = parent === null ? '' : before.at(-1) === end ? '\n' : '<|im_end|>\n';
        const added = addedMessages(record.asked!).map(({ role, text }) => `<|im_start|>${role}\n${text}<|im_end|>\n`);
        const delta = await encodeRendered(`${lead}${added.join('')}<|im_start|>assistant\n`);
        expect(contextIds).toEqual([...before, ...delta]);
        expect(record.outputIds).toEqual(outputIds);
        const whole = [...contextIds, ...outputIds!];
        const forced = await traits.forced(server(), whole, contextIds.length);
        found[parent === null ? 'roots' : 'linear']++;
        found.tokens += outputIds!.length;
        found.worst = Math.max(found.worst, worstError(forced, record.logprobs));
        const again = await encodeRendered(await decode(contextIds, { skipSpecialTokens: false }));
        if (again.join() !== contextIds.join()) found.retokenised++;
      }
    }
    say(
      `agents: ${CALLS} calls, ${killed.length} programs killed, each call asked once; ${found.linear} contexts extend the ids before ` +
        `them, ${found.retokenised} would have other ids if their text were tokenised; ${found.tokens} logprobs, ` +
        `max abs error to a forced pass ${found.worst.toExponential(2)}`,
    );
    expect(found).toMatchObject({ roots: ROWS * SAMPLES * ROOTS, linear: ROWS * SAMPLES * LINEAR });
    // Else these ids prove nothing.
    expect(found.retokenised).toBeGreaterThan(0);
    expect(found.worst).toBeLessThan(1e-3);
  });
  test('replies that the server holds to a form have it, are asked again by nobody, and are not trained', async () => {
    const everturn = openEverturn();
    onTestFinished(() => everturn.close());
    writeFileSync(join(everturn.folder, 'held.mjs'), HELD);
    const rows = Array.from({ length: 12 }, (_, i) => JSON.stringify({ id: `q${i}` }));
    writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.join('\n'));
    const model = ['--model', `${traits.kind}:${server().url}`, '--structured', 'constrain', '--logprobs', 'raw'];
    await everturn.mustRun('run', 'rows.jsonl', '--name', 'held', '--agent', 'node held.mjs', ...model);
    await everturn.mustRun('check', 'held');
    const { stdout } = await everturn.mustRun('export', 'held', '--format', 'rows');
    const all = stdout.trim().split('\n');
    const found = all.map(
      (line) => JSON.parse(line) as { readonly turn_calls: readonly string[]; readonly reward: number },
    );
    expect(found.map(({ turn_calls: calls, reward }) => [calls.length, reward])).toEqual(rows.map(() => [1, 1]));
  });
}

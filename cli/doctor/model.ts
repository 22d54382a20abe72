// Checks of what answers and what judges: one real generation of a few tokens, the state of each server, one right and
// one wrong answer through the judge, and the sandbox's canary.

import type { ServerStatus } from '../../domain/run/server-status.ts';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { proveSandbox } from '../../packages/sandbox/index.ts';
import { createMathJudge } from '../../environments/math-environment.ts';
import type { Backend, TokenBackend } from '../../inference/backend.ts';
import { createBackend, parseModelSpec } from '../../inference/index.ts';
import type { RunOptions } from '../../run/options.ts';
import { EXIT } from '../exit.ts';
import type { Io } from '../io.ts';
import { type Check, fail, type Finding, note, ok } from './check.ts';

const TOKENS = 8;

export function modelCheck(io: Io, options: RunOptions): Check {
  const { model, tokenizer, apiKeyEnv } = options;
  return {
    ...{ name: 'model', code: EXIT.model, withinMs: 120_000 },
    run: async (signal) => {
      const { servers } = parseModelSpec(model);
      const findings: Finding[] = [];
      // A key is named, never shown.
      if (apiKeyEnv !== null && !io.env[apiKeyEnv])
        findings.push(fail(`${apiKeyEnv} is not set`, `Set it to the servers' key: export ${apiKeyEnv}=…`));
      if (servers.length > 0 && apiKeyEnv === null && servers.some((url) => url.startsWith('https:')))
        findings.push(
          note('no key is named', 'If the server wants one: --api-key-env NAME, with the key in that variable.'),
        );
      const log: string[] = [];
      const backend = await createBackend(model, { tokenizer, apiKeyEnv, log: (line) => void log.push(line) });
      try {
        findings.push(await canary(model, backend, signal), ...(backend.serverStatus?.() ?? []).map(stateOf));
      } finally {
        await Promise.race([backend.close(), sleep(5000, undefined, { ref: false })]);
      }
      return findings;
    },
  };
}

function stateOf({ url, state, versionLabel, lastFailure }: ServerStatus): Finding {
  const version = versionLabel === null ? '' : `, weights ${short(versionLabel, 40)}`;
  if (state === 'up') return ok(`${oneLine(url)} is up${version}`);
  const fault = `${oneLine(url)} is ${state}: ${short(lastFailure ?? 'no answer', 200)}`;
  return fail(fault, 'Start it, or leave it out of --model.');
}

async function canary(model: string, backend: Backend, signal: AbortSignal): Promise<Finding> {
  const began = performance.now();
  const request = { requestId: `doctor/${process.pid}`, maxNewTokens: TOKENS, sampling: DEFAULT_SAMPLING, seed: 1 };
  const messages = [{ role: 'user', content: '1 + 1 =' }];
  if (!('tokenizer' in backend)) {
    const { text } = await backend.generate({ ...request, messages }, { signal });
    return ok(
      `${backend.facts.name} answered ${JSON.stringify(short(text, 40))} in ${since(began)} (text only: for evaluation)`,
    );
  }
  const { facts, tokenizer } = backend;
  const contextIds = await idsOf(tokenizer, messages);
  const reply = await backend.generate(
    { ...request, contextIds, deterministic: false, stopTokenIds: facts.stopTokenIds },
    { signal },
  );
  const kind =
    facts.logprobs === undefined || facts.logprobs === 'policy' ? '' : ` of kind ${JSON.stringify(facts.logprobs)}`;
  return ok(
    `${model} gave ${reply.outputIds.length} tokens with logprobs${kind} in ${since(began)}; context of ${facts.contextLength} tokens`,
  );
}

/** A base model has no chat template: then the text as it is. */
async function idsOf(
  tokenizer: TokenBackend['tokenizer'],
  messages: { role: string; content: string }[],
): Promise<number[]> {
  return tokenizer.chatTemplate() === null ? tokenizer.encode(messages[0]!.content) : tokenizer.encodeChat(messages);
}

const since = (began: number): string => `${((performance.now() - began) / 1000).toFixed(2)} s`;

export const judgeCheck: Check = {
  ...{ name: 'judge', code: EXIT.bug, withinMs: 60_000 },
  run: async (signal) => {
    const judge = createMathJudge({ children: 1 });
    try {
      const verdicts = await Promise.all(
        ['\\boxed{\\frac{1}{2}}', '\\boxed{0.6}'].map((answer) => judge.judge(answer, ['0.5'], undefined, signal)),
      );
      const said = verdicts.map(({ verdict }) => verdict).join(', ');
      return [
        said === 'right, wrong'
          ? ok('one right and one wrong answer were told apart')
          : fail(`1/2 and 0.6 against 0.5 are ${said}`, 'Run `npm run build`; if it stays, report it.'),
      ];
    } finally {
      judge.close();
    }
  },
};

export function sandboxCheck(io: Io): Check {
  return {
    ...{ name: 'sandbox', code: EXIT.sandbox, withinMs: 90_000 },
    run: async (signal) => {
      const proof = await proveSandbox({ env: { ...io.env }, signal });
      return [
        proof.ok
          ? ok(`${proof.sandbox.name} with ${proof.runtime}: the canary could not escape`)
          : note(`only runs with code need one: ${proof.why}`, proof.fix),
      ];
    },
  };
}

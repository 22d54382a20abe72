// The door `rubric`: another model judges each answer, by a rubric file that travels with the run, at temperature 0. Its
// model, its prompt's hash, its reply and its cost are recorded with the verdict. A server that is away or refuses, and a
// reply without a verdict, leave the answer undecided by name. With `exactFirst` the exact judge is asked first, and the
// model only about what that does not show right. State none.

import { createHash } from 'node:crypto';
import type { EnvironmentRecord, ModelJudgement, Reply } from '../../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../../domain/errors/errors.ts';
import { short } from '../../../domain/text/foreign-text.ts';
import { referencesIn } from '../../../domain/run/references.ts';
import { readKey } from '../../../local/machine/key.ts';
import { readRegular } from '../../../local/machine/regular-file.ts';
import type { Json } from '../../../domain/text/json.ts';
import type { Environment, Judge } from '../../environment.ts';
import { mismatch } from '../command.ts';
import { post } from '../post.ts';
import { respondParams } from '../wire.ts';
import { askedAgain, chosen, type JudgePrompt, judgePrompt } from './prompt.ts';
import { MAX_RUBRIC_BYTES, type ReadRubric, readRubric, type Rubric } from './rubric.ts';

const REASONS = { away: 'judge-unreachable', refused: 'judge-unreachable' } as const;
const REPLY_CHARS = 4_000;
const DRAWS = 2;

/** `code`: the file's text, to be stored with the run. */
export function describeRubric(path: string) {
  const code = readRegular(path, MAX_RUBRIC_BYTES);
  const { rubric, sha256 } = readRubric(path, code);
  const { name, version, server, apiKeyEnv, timeoutSeconds } = rubric;
  const record: EnvironmentRecord = {
    ...{ name, version, timeoutSeconds: timeoutSeconds * DRAWS, fingerprint: sha256 },
    ...{ state: 'none', begins: false, ends: false, door: 'rubric', spec: [path] },
    judge: { server, apiKeyEnv },
  };
  return { record, agents: [], code: { sha256, code } };
}

/** `file`: in the run's folder. `exact`: the judge of mathematics. */
export function rubricEnvironment(record: EnvironmentRecord, file: string, exact: Pick<Judge, 'judge'>): Environment {
  let read: ReadRubric | undefined;
  return {
    async respond(move, { signal }) {
      read ??= rubricOf(record, file);
      const { rubric, sha256 } = read;
      const { messages, answer, episode, cut } = respondParams(move, await move.before(), 'none');
      const references = referencesBy(rubric, episode.row);
      const question = { ...move.rollout.query, solutions: references };
      const own = rubric.exactFirst ? await exact.judge(question, answer, { signal, cut }) : undefined;
      if (own?.verdict === 'right') {
        return { verdict: own, ...rewardOf(rubric.choices.find(({ verdict }) => verdict === 'right')!) };
      }
      const asked = { conversation: messages, reference: references[0] ?? null, answer };
      const reply = await judgedBy(rubric, judgePrompt(rubric, sha256, asked), signal);
      return own ? { ...reply, judged: { ...reply.judged!, exact: own.reason } } : reply;
    },
  };
}

function rubricOf(record: EnvironmentRecord, file: string): ReadRubric {
  let content: string;
  try {
    content = readRegular(file, MAX_RUBRIC_BYTES);
  } catch (cause) {
    throw new EnvironmentError(`The rubric of the environment ${record.name} is not in its run's folder.`, {
      reason: 'environment-unloadable',
      cause,
    });
  }
  const read = readRubric(file, content);
  const { server, apiKeyEnv, name } = read.rubric;
  const same = read.sha256 === record.fingerprint && server === record.judge?.server;
  if (same && apiKeyEnv === record.judge?.apiKeyEnv && name === record.name) return read;
  throw mismatch(record, name, read.sha256);
}

async function judgedBy(rubric: Rubric, first: JudgePrompt, signal: AbortSignal): Promise<Reply> {
  let prompt = first;
  let spent: Pick<ModelJudgement, 'promptTokens' | 'completionTokens'> = { promptTokens: 0, completionTokens: 0 };
  for (let draw = 1; ; draw++) {
    const said = await askJudge(rubric, prompt, signal);
    spent = {
      promptTokens: sum(spent.promptTokens, said.promptTokens),
      completionTokens: sum(spent.completionTokens, said.completionTokens),
    };
    const found = said.isWhole ? chosen(rubric, prompt.mark, said.reply) : undefined;
    if (found) return replyOf(rubric, found, prompt, said.reply, spent);
    if (draw >= DRAWS) {
      throw new EnvironmentError(
        `The judge ${rubric.model} gave no single verdict, twice: ${short(JSON.stringify(said.reply), 300)}`,
        {
          reason: 'judge-unreadable',
          fix: said.isWhole
            ? 'Its last line should be the mark that the prompt names, and a choice.'
            : `It was cut: give it more than ${rubric.maxTokens} tokens (\`maxTokens\`).`,
        },
      );
    }
    prompt = askedAgain(prompt, middleCut(said.reply), rubric);
  }
}

function replyOf(
  { model, price }: Rubric,
  { choice, verdict, reward }: Choice,
  prompt: JudgePrompt,
  reply: string,
  spent: Pick<ModelJudgement, 'promptTokens' | 'completionTokens'>,
): Reply {
  const { promptTokens, completionTokens } = spent;
  const hash = createHash('sha256').update(JSON.stringify(prompt.messages)).digest('hex');
  const known = price && promptTokens !== null && completionTokens !== null;
  const cost = known ? (promptTokens * price.prompt + completionTokens * price.completion) / 1e6 : undefined;
  return {
    ...(verdict ? { verdict: { verdict, reason: 'rubric', extracted: choice } } : { done: true }),
    ...rewardOf({ reward }),
    judged: { model, prompt: hash, reply: middleCut(reply), ...spent, ...(cost === undefined ? {} : { cost }) },
  };
}

type Choice = Rubric['choices'][number];

const rewardOf = ({ reward }: Pick<Choice, 'reward'>): Pick<Reply, 'reward'> =>
  reward === undefined ? {} : { reward: reward === 0 ? 0 : reward };

interface Said extends Pick<ModelJudgement, 'promptTokens' | 'completionTokens'> {
  readonly reply: string;
  /** The model ended it, and no limit or filter did. */
  readonly isWhole: boolean;
}

async function askJudge(rubric: Rubric, { messages }: JudgePrompt, signal: AbortSignal): Promise<Said> {
  const { server, model, maxTokens, timeoutSeconds, apiKeyEnv } = rubric;
  const who = `${rubric.name} (judge ${new URL(server).host})`;
  const refuse = (what: string, fix: string): never => {
    throw new EnvironmentError(`${rubric.name}: ${what}`, { reason: 'judge-unreachable', fix });
  };
  const bearer = apiKeyEnv === null ? null : readKey(apiKeyEnv, refuse);
  const body = { model, messages, temperature: 0, max_tokens: maxTokens };
  const url = `${server.replace(/\/+$/, '')}/chat/completions`;
  const options = { signal, timeoutMs: timeoutSeconds * 1000, bearer, reasons: REASONS };
  return saidOf(await post(who, 'chat/completions', url, body, options).catch(unreadable));
}

/** A reply that is no JSON, or too large, is no verdict either. */
function unreadable(error: unknown): never {
  if (!(error instanceof EnvironmentError) || error.reason.startsWith('judge-')) throw error;
  throw new EnvironmentError(error.message, { reason: 'judge-unreadable', cause: error });
}

function saidOf(value: unknown): Said {
  const { choices, usage } = (value ?? {}) as { readonly choices?: readonly unknown[]; readonly usage?: unknown };
  const first = (Array.isArray(choices) ? choices[0] : null) as {
    readonly message?: { readonly content?: unknown };
    readonly finish_reason?: unknown;
  } | null;
  const content = first?.message?.content;
  const { prompt_tokens: asked, completion_tokens: answered } = (usage ?? {}) as Record<string, unknown>;
  const count = (n: unknown): number | null => (Number.isSafeInteger(n) && (n as number) >= 0 ? (n as number) : null);
  return {
    isWhole: (first?.finish_reason ?? 'stop') === 'stop',
    reply: typeof content === 'string' ? content.toWellFormed().replaceAll('\u0000', '\ufffd') : '',
    promptTokens: count(asked),
    completionTokens: count(answered),
  };
}

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

/** The row's own references: a text, or the items of a list. The model is shown the first. */
function referencesBy({ reference }: Rubric, row: Readonly<Record<string, Json>>): readonly string[] {
  return reference === null ? [] : referencesIn(row, reference === undefined ? undefined : [reference]);
}

function middleCut(text: string): string {
  if (text.length <= REPLY_CHARS) return text;
  const half = REPLY_CHARS / 2;
  return `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed();
}

// The door `rubric`: another model judges each answer, by a rubric file that travels with the run, at temperature 0 where its
// endpoint takes one: it is asked as a model `openai:` is. Its model, its prompt's hash, its reply and its cost are recorded
// with the verdict. A server that is away or refuses, a reply that a filter withheld, and one without a verdict leave the
// answer undecided by name. With `exactFirst` the exact judge is asked first, and the model only about what that does not
// show right. State none.

import { createHash } from 'node:crypto';
import {
  type EnvironmentRecord,
  type ModelJudgement,
  type EnvironmentReply,
  MAX_REPLY_BYTES,
} from '../../../domain/rollout/environment.ts';
import { EnvironmentError, ModelError } from '../../../domain/errors/errors.ts';
import type { PageRubric } from '../../../domain/rollout/rubric.ts';
import { DEFAULT_SAMPLING } from '../../../domain/rollout/sampling.ts';
import { short } from '../../../domain/text/foreign-text.ts';
import { referencesIn } from '../../../domain/query/references.ts';
import { readApiKey } from '../../../inference/http/api-key.ts';
import { type Http, openHttp } from '../../../inference/http/http.ts';
import { type Chat, readModelName, openChat } from '../../../inference/servers/openai.ts';
import { readRegular } from '../../../local/machine/regular-file.ts';
import type { Json } from '../../../domain/text/json.ts';
import type { Environment, Judge } from '../../environment.ts';
import { respondParams } from '../../wire.ts';
import { promptAgain, readChoice, type JudgePrompt, judgePrompt } from './prompt.ts';
import {
  MAX_RUBRIC_BYTES,
  namesModelAlone,
  type ReadRubric,
  readRubric,
  type Rubric,
  withPageRubric,
} from './rubric.ts';
import { mismatch } from '../../other-code.ts';

const REPLY_CHARS = 4_000;
const DRAWS = 2;

/** `page`: the rubric of a benchmark, for a file that names a model alone. `code`: the text, to be stored with the run. `tryOut` asks the model once. */
export function describeRubric(path: string, page?: { readonly name: string; readonly rubric: PageRubric }) {
  const file = readRegular(path, MAX_RUBRIC_BYTES);
  const code = page && namesModelAlone(file) ? withPageRubric(file, page.name, page.rubric) : file;
  const { rubric, sha256 } = readRubric(path, code);
  const { name, version, server, apiKeyEnv, timeoutSeconds } = rubric;
  const record: EnvironmentRecord = {
    ...{ name, version, timeoutSeconds: timeoutSeconds * DRAWS, fingerprint: sha256 },
    ...{ state: 'none', begins: false, ends: false, door: 'rubric', spec: [path] },
    judge: { server, apiKeyEnv },
  };
  return { record, agents: [], code: { sha256, code }, tryOut: () => tryOut(rubric) };
}

/** `file`: in the run's folder. `exact`: the judge of mathematics. */
export function rubricEnvironment(record: EnvironmentRecord, file: string, exact: Pick<Judge, 'judge'>) {
  let read: ReadRubric | undefined;
  let model: JudgeModel | undefined;
  const environment: Environment = {
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
      const prompt = judgePrompt(rubric, sha256, asked);
      const reply = await named(rubric, () => judgedBy(rubric, (model ??= openModel(rubric)).chat, prompt, signal));
      return own ? { ...reply, judged: { ...reply.judged!, exact: own.reason } } : reply;
    },
  };
  return { environment, close: () => void model?.http.close() };
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

async function judgedBy(
  rubric: Rubric,
  chat: Chat,
  first: JudgePrompt,
  signal: AbortSignal,
): Promise<EnvironmentReply> {
  let prompt = first;
  let spent: Pick<ModelJudgement, 'promptTokens' | 'completionTokens'> = { promptTokens: 0, completionTokens: 0 };
  for (let draw = 1; ; draw++) {
    const said = await askJudge(rubric, chat, prompt, signal);
    spent = {
      promptTokens: sum(spent.promptTokens, said.promptTokens),
      completionTokens: sum(spent.completionTokens, said.completionTokens),
    };
    const found = said.isWhole ? readChoice(rubric, prompt.mark, said.reply) : undefined;
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
    prompt = promptAgain(prompt, middleCut(said.reply), rubric);
  }
}

function replyOf(
  { model, price, prompt: own }: Rubric,
  { choice, means, verdict, reward }: Choice,
  prompt: JudgePrompt,
  reply: string,
  spent: Pick<ModelJudgement, 'promptTokens' | 'completionTokens'>,
): EnvironmentReply {
  const { promptTokens, completionTokens } = spent;
  // A letter says nothing by itself.
  const extracted = own === undefined ? choice : (means ?? choice).slice(0, 200);
  const hash = createHash('sha256').update(JSON.stringify(prompt.messages)).digest('hex');
  const known = price && promptTokens !== null && completionTokens !== null;
  const cost = known ? (promptTokens * price.prompt + completionTokens * price.completion) / 1e6 : undefined;
  return {
    ...(verdict ? { verdict: { verdict, reason: 'rubric', extracted } } : { done: true }),
    ...rewardOf({ reward }),
    judged: { model, prompt: hash, reply: middleCut(reply), ...spent, ...(cost === undefined ? {} : { cost }) },
  };
}

type Choice = Rubric['choices'][number];

const rewardOf = ({ reward }: { readonly reward?: number | undefined }): Pick<EnvironmentReply, 'reward'> =>
  reward === undefined ? {} : { reward: reward === 0 ? 0 : reward };

interface Said extends Pick<ModelJudgement, 'promptTokens' | 'completionTokens'> {
  readonly reply: string;
  /** The model ended it, and no limit did. */
  readonly isWhole: boolean;
}

interface JudgeModel {
  readonly http: Http;
  readonly chat: Chat;
}

function openModel({ server, model, apiKeyEnv, timeoutSeconds }: Rubric): JudgeModel {
  const apiKey = readApiKey(apiKeyEnv);
  const limits = { requestTimeoutMs: timeoutSeconds * 1000, maxBodyBytes: MAX_REPLY_BYTES };
  const http = openHttp({ url: server, apiKey, ...limits });
  const chat = openChat(http, model, {});
  chat.leaveLogprobs();
  return { http, chat };
}

/** One small request, before any answer is paid for. */
function tryOut(rubric: Rubric): Promise<void> {
  return named(rubric, async () => {
    const { http, chat } = openModel(rubric);
    try {
      await readModelName(chat);
    } finally {
      await http.close();
    }
  });
}

async function askJudge(rubric: Rubric, chat: Chat, { messages }: JudgePrompt, signal: AbortSignal): Promise<Said> {
  const question = { messages, maxNewTokens: rubric.maxTokens, seed: 1, temperature: 0, topP: 1 };
  // The defaults ask for nothing: an endpoint that takes no temperature judges at its own.
  const { text, finish, usage } = await chat.ask(question, DEFAULT_SAMPLING, { signal });
  if (finish === 'abort') {
    const message = `The judge ${rubric.model} of ${rubric.name} gave no verdict: a filter of its server withheld the reply.`;
    throw new EnvironmentError(message, { reason: 'judge-withheld' });
  }
  return {
    isWhole: finish !== 'length',
    reply: text.toWellFormed().replaceAll('\u0000', '\ufffd'),
    promptTokens: usage?.input ?? null,
    completionTokens: usage?.output ?? null,
  };
}

/** A failure of the judge's server, as the judge's. A reply that is no JSON, or too large, is no verdict either. */
async function named<T>({ name, model }: Rubric, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof ModelError)) throw cause;
    const { message, reason, retryable, retryAfterMs } = cause;
    const isReply = reason.startsWith('reply-');
    const fix = cause.fix?.replace('--api-key-env', "the rubric's `apiKeyEnv`");
    throw new EnvironmentError(`The judge ${model} of ${name}: ${message}`, {
      reason: isReply ? 'judge-unreadable' : 'judge-unreachable',
      retryable: retryable && !isReply,
      ...(fix !== undefined && { fix }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      cause,
    });
  }
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

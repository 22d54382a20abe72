// The answer of a model that takes messages and gives text: one request with the whole conversation. No ids and no
// logprobs of ids are recorded, so the turn is marked as not trainable. Its tokens are those that the server counts, and
// chunks do not apply.

import type { TextBackend } from '../inference/backend.ts';
import { type NoRoom, nullIfFull, commonRequest, type DueTurn } from './answer.ts';
import type { Answered } from './turn-prompt.ts';

export async function answerInText(backend: TextBackend, asked: DueTurn): Promise<Answered | NoRoom> {
  const { prompt, turn, options } = asked;
  const conversation = await prompt.conversation();
  const request = { ...commonRequest(asked), maxNewTokens: prompt.maxNewTokens, ...conversation.request };
  const reply = await backend.generate(request, options).catch(nullIfFull(turn));
  if (!reply) return { noRoom: true, contextTokens: 0, modelLength: null };
  const {
    text,
    finish,
    maxNewTokens = request.maxNewTokens,
    server,
    textLogprobs,
    usage,
    reasoning,
    toolCalls,
  } = reply;
  return {
    fields: {
      contextIds: [],
      contextText: conversation.newText,
      outputIds: [],
      logprobs: [],
      outputText: text,
      answer: text,
      finish,
      versions: [],
      versionStart: 0,
      versionEnd: 0,
      contextLength: 0,
      maxNewTokens,
      server,
      trainable: false,
      ...(textLogprobs.length > 0 && { textLogprobs }),
      ...(usage && { usage }),
      ...(reasoning && { reasoning }),
      ...(toolCalls && { toolCalls }),
    },
    chunks: 0,
  };
}

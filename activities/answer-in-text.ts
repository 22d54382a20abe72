// The answer of a model that takes messages and gives text: one request with the whole conversation. No ids and no
// logprobs of ids are recorded, so the turn is marked as not trainable. Its tokens are those that the server counts, and
// chunks do not apply.

import { plainMessages } from '../domain/agent/conversation.ts';
import { conversationOf, newTranscript } from '../domain/rollout/new-context.ts';
import type { TextBackend } from '../inference/backend.ts';
import { type Answered, type NoRoom, nullIfFull, requestOf, type Turn, wantedTokens } from './answer.ts';

export async function answerInText(backend: TextBackend, asked: Turn): Promise<Answered | NoRoom> {
  const { rollout, turn, before, judged, options } = asked;
  const maxNewTokens = wantedTokens(asked);
  const earlier = asked.request ? [] : await Promise.all(before.map((_, place) => judged(place)));
  const request = {
    ...requestOf(asked),
    maxNewTokens,
    messages: asked.request ? plainMessages(asked.request.messages) : conversationOf(rollout.query.prompt, earlier),
  };
  const reply = await backend.generate(request, options).catch(nullIfFull(turn));
  if (!reply) return { noRoom: true, contextTokens: 0, modelLength: null };
  const { text, finish, server, textLogprobs, usage, reasoning } = reply;
  return {
    fields: {
      contextIds: [],
      contextText: asked.asked ? '' : newTranscript(rollout, earlier.at(-1) ?? null),
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
    },
    chunks: 0,
  };
}

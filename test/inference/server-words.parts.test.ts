// The cause of a failure is in a server's words, as providers and gateways write them, under a status of any kind.

import { describe, expect, test } from 'vitest';
import { statusError } from '../../inference/http/http-errors.ts';
import { parseJson } from '../../inference/http/reply-json.ts';

const place = { url: 'http://a', path: '/chat/completions', secret: null };

function failureOf(status: number, body: string): unknown {
  if (status !== 200) return statusError(status, {}, body, place);
  try {
    return parseJson(Buffer.from(body), body, place);
  } catch (error) {
    return error;
  }
}

/** As providers and gateways say it. */
const WITHHELD: readonly [words: string, more?: object, status?: number][] = [
  ['Output blocked by content filtering policy', { type: 'invalid_request_error' }],
  ['Output blocked by content filtering policy', { type: 'api_error' }, 500],
  ['Gemini blocked the request: PROHIBITED_CONTENT', { code: 400 }],
  ['The response was blocked. Finish reason: RECITATION', {}, 502],
  ['Content Exists Risk', { code: 'invalid_request_error' }],
  ['系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语。', { code: '1301' }],
  ['x', { code: 1301 }],
  [
    'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again.',
    { code: 'invalid_prompt' },
  ],
  ['Your chosen model requires moderation and your input was flagged for "violence".', { code: 403 }, 403],
  ['Forbidden', { code: 403, metadata: { reasons: ['violence'], flagged_input: '..' } }, 403],
  ['Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO', {}, 403],
  ['The response was filtered due to the prompt triggering Azure OpenAI’s content management policy.'],
  ['x', { code: 'data_inspection_failed' }],
  ['This content was flagged for possible cybersecurity risk.', { code: 502 }, 200],
  ['x', { code: 'content_filter' }, 200],
  [
    'Provider returned error',
    { code: 400, metadata: { raw: '{"message":"Output blocked by content filtering policy"}' } },
  ],
];

/** The cause is in the words, in a status of another kind. */
const CAUSES: readonly [status: number, words: string, reason: string, more?: object][] = [
  [400, 'API key not valid. Please pass a valid API key.', 'server-auth', { code: 400, status: 'INVALID_ARGUMENT' }],
  [400, 'x', 'server-auth', { code: 400, details: [{ reason: 'API_KEY_INVALID' }] }],
  [400, 'ThrottlingException: Too many requests, please wait before trying again.', 'server-busy'],
  [422, 'Rate limit reached for model m', 'server-busy'],
  [404, 'No instances available (yet) for model m', 'server-busy', { code: 'model_not_ready' }],
  [404, 'The model m is currently loading', 'server-busy'],
  [400, 'The model `m` does not exist', 'model-not-found', { type: 'invalid_request_error' }],
  [400, 'Model Not Exist', 'model-not-found', { type: 'invalid_request_error' }],
  [400, 'm/n is not a valid model ID', 'model-not-found', { code: 400 }],
  [404, 'Invalid URL (POST /v1/chat)', 'server-lacks', { type: 'invalid_request_error' }],
  [409, 'conflict, try again', 'server-error'],
  [499, 'client closed', 'server-error'],
  // No filter, and no other cause: a word alone says nothing.
  [401, 'This key was blocked by our content moderation system', 'server-auth'],
  [403, 'Your API key is blocked by an access policy', 'server-auth'],
  [403, 'Request blocked by the network policy of your organization', 'server-auth'],
  [403, 'Your IP was blocked for safety', 'server-auth'],
  [429, 'Request rejected: the rate limit policy of content filters', 'server-busy'],
  [500, 'the content filter failed', 'server-error', { code: 'content_filter_error' }],
  [400, 'moderation is no parameter of this model', 'request-refused', { param: 'moderation' }],
  [400, 'stop: the text "too many" requests no limit', 'request-refused'],
];

describe('the cause of a failure', () => {
  test.each(WITHHELD)('is a filter: %s %j', (words: string, more: object = {}, status = 400) => {
    const body = JSON.stringify({ error: { message: words, ...more } });
    expect(failureOf(status, body)).toMatchObject({ reason: 'answer-withheld', retryable: false });
  });

  test.each(CAUSES)('of %i %s: %s', (status: number, words: string, reason: string, more: object = {}) => {
    const body = JSON.stringify({ error: { message: words, ...more } });
    expect(failureOf(status, body)).toMatchObject({ reason, retryable: /busy|error/.test(reason) });
  });

  test('is not in what a server repeats of the request', () => {
    const detail = [{ loc: ['body', 'seed'], msg: 'too large', input: 'Output blocked by content filtering policy' }];
    expect(failureOf(422, JSON.stringify({ detail }))).toMatchObject({ reason: 'request-refused' });
  });
});

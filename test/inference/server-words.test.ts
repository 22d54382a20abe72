// The cause of a failure is in a server's words, as providers and gateways write them (server-words.jsonl), under a status of any
// kind; without words it is the status, and what a server repeats of the request says nothing.

import { describe, expect, test } from 'vitest';
import { statusError } from '../../inference/http/http-errors.ts';
import { parseReplyJson } from '../../inference/http/reply-json.ts';
import { rowsOf } from '../support/rows.ts';

const place = { url: 'http://a', path: '/chat/completions', secret: null };

interface Row {
  readonly status: number;
  readonly error?: object;
  /** In place of an error. */
  readonly body?: string;
  readonly reason: string;
  readonly retryable: boolean;
}

function failureOf(status: number, body: string): unknown {
  if (status !== 200) return statusError(status, {}, body, place);
  try {
    return parseReplyJson(Buffer.from(body), body, place);
  } catch (error) {
    return error;
  }
}

describe('the cause of a failure', () => {
  test.each(rowsOf<Row>('./server-words.jsonl', import.meta.url))(
    'with the status $status and $error $body is $reason',
    ({ status, error, body = JSON.stringify({ error }), reason, retryable }) =>
      expect(failureOf(status, body)).toMatchObject({ reason, retryable }),
  );
});

// How workflows read payloads: as the SDK does, except that one which cannot be read is a value too. A user's own worker
// or client may send JSON with NaN, or an encoding of its own; an error here would fail the workflow's task for ever.

import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** Stands where a payload could not be read. */
export class UnreadablePayload extends Error {}

/** The name that the SDK looks for. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      return new UnreadablePayload(String(error)) as T;
    }
  },
};

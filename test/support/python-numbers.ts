// A worker's payloads as Python writes them.

import type { PayloadCodec } from '@temporalio/common';

/** Python's JSON has NaN and Infinity, which JavaScript's has not. */
export const pythonNumbers: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => ({
      ...payload,
      data: Buffer.from(
        Buffer.from(payload.data ?? [])
          .toString()
          .replaceAll(/"(NaN|-?Infinity)"/g, '$1'),
      ),
    })),
  decode: async (payloads) => payloads,
};

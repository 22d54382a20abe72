// Calls that nobody waits for any more when a connection closes: the SDK repeats a failed one by a timer, and the repetition
// on a closed channel would throw there and end the process. Here it ends as cancelled instead.

import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** A status of gRPC. */
const CANCELLED = 1;

/** Behind the SDK's own, which repeats. `isClosed`: whether the connection was closed by us. */
export function endsLateRetries(isClosed: () => boolean): Interceptor {
  return (options, nextCall) => {
    try {
      return nextCall(options) as Call;
    } catch (error) {
      if (!isClosed()) throw error;
      return cancelledCall() as Call;
    }
  };
}

function cancelledCall(): Partial<Call> {
  return {
    start(metadata, listener) {
      setImmediate(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details: 'The connection was closed.', metadata });
      });
    },
    sendMessage() {},
    sendMessageWithContext() {},
    halfClose() {},
    startRead() {},
    cancelWithStatus() {},
    getPeer: () => 'closed',
  };
}

// The delivery of replies, as far as a server can know it: the kernel took the last byte, and later the other side reset the
// connection, or did not.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export function openDeliveries(listener: {
  readonly onEnd: (call: string, isDelivered: boolean) => void;
  readonly onDoubt: (call: string) => void;
}) {
  let last: string | null = null;
  const holders = new Map<string, ServerResponse>();
  /** The call whose reply a connection carried last, with no request behind it. */
  const carried = new Map<Socket, string>();
  const watched = new WeakSet<Socket>();

  function carry(socket: Socket, id: string): void {
    // Over another connection it was sent again.
    for (const [other, call] of carried) if (call === id) carried.delete(other);
    carried.set(socket, id);
    if (watched.has(socket)) return;
    watched.add(socket);
    socket.once('close', (isReset: boolean) => {
      const sent = carried.get(socket);
      carried.delete(socket);
      if (isReset && sent !== undefined) listener.onDoubt(sent);
    });
  }

  return {
    /** The connection that asks for a call: the end of an earlier one says nothing. The function says that the reply is written. */
    hold(call: string, socket: Socket, response: ServerResponse) {
      let isWritten = false;
      holders.set(call, response);
      response.on('close', () => {
        if (holders.get(call) !== response) return;
        holders.delete(call);
        const isDelivered = isWritten && response.writableFinished;
        if (isDelivered) {
          last = call;
          carry(socket, call);
        }
        listener.onEnd(call, isDelivered);
      });
      return () => (isWritten = true);
    },
    /** The client has read what this connection carried before. */
    confirm: (socket: Socket) => void carried.delete(socket),
    /** The call whose reply was delivered last; null if there is none. */
    last: () => last,
    /** Breaks the connections of its calls. */
    close() {
      for (const response of holders.values()) response.destroy();
    },
  };
}

// An endpoint on loopback, for clients that need an address.

import { createEndpoint, type AgentEndpoint, type EndpointOptions } from '../../endpoint/endpoint.ts';
import { listenAt } from '../../endpoint/http.ts';

export interface OpenEndpoint extends Omit<AgentEndpoint, 'answer' | 'close'> {
  readonly url: string;
  close(): Promise<void>;
}

/** It counts no tokens. */
export async function openEndpoint(options: Omit<EndpointOptions, 'count'>): Promise<OpenEndpoint> {
  const { answer, ...endpoint } = createEndpoint({ ...options, count: () => Promise.resolve(null) });
  return { ...endpoint, ...(await listenAt(answer)) };
}

// An endpoint on loopback, for clients that need an address.

import { createEndpoint, type AgentEndpoint, type EndpointOptions } from '../../endpoint/endpoint.ts';
import { listenAt } from '../../endpoint/http.ts';

export interface OpenEndpoint extends Omit<AgentEndpoint, 'answer' | 'close'> {
  readonly url: string;
  close(): Promise<void>;
}

export async function openEndpoint(options: EndpointOptions): Promise<OpenEndpoint> {
  const { answer, ...endpoint } = createEndpoint(options);
  return { ...endpoint, ...(await listenAt(answer)) };
}

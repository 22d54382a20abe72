// An endpoint in the shape of OpenAI's chat that gives one text to every request. Loopback only.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TextServer {
  /** As `--model` takes it. */
  readonly model: string;
  text: string;
  close(): void;
}

export async function textServer(text: string): Promise<TextServer> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const message = { role: 'assistant', content: self.text };
      const reply = request.url?.endsWith('/models')
        ? { object: 'list', data: [{ id: 'text', object: 'model' }] }
        : {
            id: 'x',
            object: 'chat.completion',
            model: 'text',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
          };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: TextServer = {
    model: `openai:http://127.0.0.1:${port}/v1#text`,
    text,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return self;
}

// A server with the wire of OpenEnv (version 0.10.0 of its package): `/schema`, `/metadata`, and sessions over `/ws`. The
// game: a number from 1 to 20 by the seed. Faults on request.

import { type Peer, serveSockets } from './web-socket-server.ts';

type Data = Readonly<Record<string, unknown>>;

export interface OpenEnvFaults {
  /** In place of the next reply to `step`. */
  step?: ((peer: Peer) => void) | undefined;
  /** Sessions at once. */
  most: number;
  schema: Data;
  /** Any action is taken. */
  free?: boolean;
  /** In place of the next observations, as JSON. */
  observations?: string[];
  metadata: Data | undefined;
}

export const GUESS_SCHEMA = {
  additionalProperties: false,
  properties: {
    metadata: { additionalProperties: true, title: 'Metadata', type: 'object' },
    guess: { title: 'Guess', type: 'integer' },
  },
  required: ['guess'],
  title: 'GuessAction',
  type: 'object',
};

export async function openEnvServer() {
  const faults: OpenEnvFaults = {
    most: 100,
    schema: GUESS_SCHEMA,
    metadata: { name: 'Guess_Environment', description: 'A number.', version: '1.2' },
  };
  const seen: { readonly type: string; readonly data?: Data }[] = [];
  let sessions = 0;
  const server = await serveSockets(
    (path) => {
      if (path.endsWith('/schema')) return { action: faults.schema, observation: {}, state: {} };
      return path.endsWith('/metadata') ? faults.metadata : undefined;
    },
    () => {
      let number = 0;
      let steps = 0;
      let isOpen = false;
      const error = (code: string, message: string, more: Data = {}) =>
        JSON.stringify({ type: 'error', data: { message, code, ...more } });
      const observation = (text: string, reward: number | null, done = false) =>
        JSON.stringify({ type: 'observation', data: { observation: { text, hint: null }, reward, done } });
      return {
        open(peer) {
          if (sessions >= faults.most) {
            peer.send(error('CAPACITY_REACHED', `Server at capacity: ${sessions} sessions`));
            return peer.close();
          }
          sessions++;
          isOpen = true;
        },
        message(text, peer) {
          const { type, data = {} } = JSON.parse(text) as { type: string; data?: Data };
          seen.push({ type, data });
          if (type === 'reset') {
            number = 1 + (Number(data['seed']) % 20);
            steps = 0;
            return peer.send(observation(`I think of a number from 1 to 20.`, null));
          }
          if (type === 'close') return peer.close();
          const shown = faults.observations?.shift();
          if (shown !== undefined)
            return peer.send(`{"type": "observation", "data": {"observation": ${shown}, "done": false}}`);
          if (faults.free) return peer.send(observation('Go on.', 0));
          if (faults.step) {
            const fault = faults.step;
            faults.step = undefined;
            return fault(peer);
          }
          const { guess, ...alien } = data;
          if (typeof guess !== 'number' || Object.keys(alien).length > 0) {
            const errors = [{ type: 'int_parsing', loc: ['guess'], msg: 'Input should be a valid integer' }];
            return peer.send(error('VALIDATION_ERROR', 'Invalid message', { errors }));
          }
          steps++;
          if (guess === number) return peer.send(observation('Right.', 1 / steps, true));
          peer.send(observation(guess < number ? 'Higher.' : 'Lower.', -0.125));
        },
        gone() {
          if (isOpen) sessions--;
        },
      };
    },
  );
  return { ...server, faults, seen, sessions: () => sessions };
}

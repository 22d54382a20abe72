// Connects to Temporal: the cluster in the environment, or else the local service. `keepUp` restarts a local
// service that has ended, and replaces a connection to its old address.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { connect, isServerFailure, type Session } from '../../client/temporal/connection.ts';
import { TemporalError } from '../../domain/errors/errors.ts';
import { visible } from '../../domain/text/foreign-text.ts';
import type { OnProgress } from '../machine/progress.ts';
import type { Environment } from '../machine/user-folders.ts';
import { ensureService, serviceStatus } from './service.ts';
import { endedOnPurpose } from './state.ts';

/** Who asks for a connection: its environment names the cluster or the home of the local service. */
interface LinkOptions {
  readonly env: Environment;
  /** The steps of the local service while it starts. */
  readonly onProgress: OnProgress;
}

export interface Link {
  readonly session: Session;
  /** The web UI's address; null if it is not known. */
  readonly ui: string | null;
  /** Whether it is the local service, which this user owns. */
  readonly local: boolean;
  /**
   * Cheap if nothing has changed: repeated calls keep the local service running and in use. Throws if it cannot be
   * restarted, or if `everturn down` ended it: it then stays down until a user starts it.
   */
  keepUp(onProgress: OnProgress): Promise<void>;
  close(): Promise<void>;
}

/** Starts the local service if it is needed and not running. */
export function openLink(options: LinkOptions): Promise<Link> {
  return namesCluster() ? clusterLink(options.env) : localLink(options);
}

export async function withLink<T>(options: LinkOptions, use: (link: Link) => Promise<T>): Promise<T> {
  const link = await openLink(options);
  return use(link).finally(() => link.close());
}

/** Undefined if no server answers: no cluster is named or it is away, and the local service is not running. */
export async function openLinkIfUp(options: LinkOptions): Promise<Link | undefined> {
  const named = namesCluster();
  const { up, state } = serviceStatus(options.env);
  if (!named && (!up || !state)) return undefined;
  return (named ? clusterLink(options.env) : localLink(options, state)).catch((error: unknown): undefined => {
    options.onProgress({ kind: 'note', text: visible(`Temporal is not available: ${messageOf(error)}`) });
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A server that does not answer counts as none; any other error is thrown. */
export function unanswered(error: unknown): undefined {
  if (!isServerFailure(error)) throw error;
}

async function clusterLink(env: Environment): Promise<Link> {
  const session = await connect();
  return {
    session,
    ui: clusterUi(env, session.address),
    local: false,
    keepUp: async () => {},
    close: () => session.close(),
  };
}

interface ServiceAddress {
  readonly address: string;
  readonly uiAddress: string | null;
}

async function localLink({ env, onProgress: onStart }: LinkOptions, at?: ServiceAddress): Promise<Link> {
  const ensure = (onProgress: OnProgress) => ensureService({ env, onProgress });
  const { address, uiAddress } = at ?? (await ensure(onStart));
  const toLocal = (at: string) => connect({ address: at, namespace: 'default' }, { isAlive: () => servesAt(env, at) });
  let session = await toLocal(address);
  let ui = uiAddress;
  return {
    get session() {
      return session;
    },
    get ui() {
      return ui;
    },
    local: true,
    async keepUp(onProgress) {
      if (endedOnPurpose(serviceStatus(env).state)) throw ended();
      const service = await ensure(onProgress);
      ui = service.uiAddress;
      if (service.address === session.address) return;
      const old = session;
      session = await toLocal(service.address);
      await old.close();
    },
    close: () => session.close(),
  };
}

/** Whether the local service's processes live and serve this address. */
function servesAt(env: Environment, address: string): boolean {
  const { up, state } = serviceStatus(env);
  return up && state?.phase !== 'stopping' && state?.address === address;
}

function ended(): TemporalError {
  return new TemporalError('The local service was ended.', {
    reason: 'service-ended',
    fix: '`everturn up` starts it again, and the run continues.',
    retryable: true,
  });
}

/** The address that EVERTURN_UI names; else that of Temporal's own cloud. */
export function clusterUi(env: Environment, address = ''): string | null {
  const said = env['EVERTURN_UI'] ?? '';
  if (/^https?:\/\//.test(said)) return said.replace(/\/$/, '');
  return said !== 'off' && /\.tmprl\.cloud|\.temporal\.io/.test(address) ? 'https://cloud.temporal.io' : null;
}

/** The page of one workflow in the web UI. */
export function workflowUrl(
  { ui, session }: { readonly ui: string | null; readonly session: Pick<Session, 'namespace'> },
  workflowId: string,
): string | null {
  return ui && `${ui}/namespaces/${session.namespace}/workflows/${encodeURIComponent(workflowId)}`;
}

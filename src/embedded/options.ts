/**
 * Every option of the embedded apiserver with its unit and default. Where the real server has a value, it is the default.
 */

import { KubeloomError } from '../errors.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { ResourceDefinition } from './resources.ts';

export interface ApiServerOptions {
  /** Loopback, unless `allowRemote`. Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (default): any free port. */
  readonly port?: number;
  /** Listening beyond loopback has to be asked for twice. */
  readonly allowRemote?: boolean;
  /** Own CA and certificate, made at start. Default true. */
  readonly tls?: boolean;
  /** The bearer token that requests must carry. Default: a random one; '' lets everybody in. */
  readonly token?: string;
  /** The revision before the first write. Default 1, as of an empty etcd. */
  readonly firstRevision?: number;
  /** Events that each resource remembers for watches and old lists. Default 100,000 … */
  readonly historyEventsMax?: number;
  /** … and their bytes. Default 512 MiB; updates of the load generator share theirs and cost next to nothing. */
  readonly historyBytesMax?: number;
  /** Default 60,000, as the real server. */
  readonly bookmarkIntervalMs?: number;
  /**
   * A watch this many events behind is closed. Default 100,000: all that the history has. (The real server allows 10 to
   * 1,000 and a time budget, and in tests that would be a matter of luck.)
   */
  readonly watchBacklogEventsMax?: number;
  /** Without timeoutSeconds a watch lasts 1 to 2 times this. Default 1,800,000. */
  readonly watchTimeoutMs?: number;
  /** How long a read waits for a revision of the future before `Too large resource version`. Default 3,000. */
  readonly freshnessTimeoutMs?: number;
  /** Default 3 MiB. */
  readonly requestBytesMax?: number;
  /** How a watch from too old a revision fails: 410 inside the stream (default, as the real server) or as HTTP status. */
  readonly expiredWatch?: 'event' | 'status';
  /** Custom resources, beside those registered later. */
  readonly resources?: readonly ResourceDefinition[];
}

export type ResolvedOptions = Required<ApiServerOptions>;

const MIB = 1024 * 1024;

export function resolveOptions(options: ApiServerOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    host: '127.0.0.1',
    port: 0,
    allowRemote: false,
    tls: true,
    token: crypto.randomUUID().replaceAll('-', ''),
    firstRevision: 1,
    historyEventsMax: 100_000,
    historyBytesMax: 512 * MIB,
    bookmarkIntervalMs: 60_000,
    watchBacklogEventsMax: 100_000,
    watchTimeoutMs: 1_800_000,
    freshnessTimeoutMs: 3_000,
    requestBytesMax: 3 * MIB,
    expiredWatch: 'event',
    resources: [],
    ...options,
  };
  if (!resolved.allowRemote && !isLoopbackHost(resolved.host)) {
    const message = `the embedded apiserver listens on loopback only; ${resolved.host} needs allowRemote: true`;
    throw new KubeloomError('ERR_KUBELOOM_NOT_LOOPBACK', message);
  }
  return resolved;
}

/**
 * All options of the embedded apiserver with units and defaults. The defaults are the real server's, if it has the
 * option.
 */

import { KubeloomError } from '../../../base/errors.ts';
import { isLoopbackHost } from '../../../base/loopback.ts';
import { flag, integer, number, oneOf, text, checkOptions } from '../../../base/option-checks.ts';
import type { OptionChecks } from '../../../base/option-checks.ts';
import { isToken } from '../../../kube/confirm-usable.ts';
import { RESOURCE_DEFINITIONS } from './argument-shapes.ts';
import type { ResourceDefinition } from './resources.ts';

/** Options of the apiserver for tests. */
export interface ApiServerOptions {
  /** Listening address: loopback, unless `allowRemote`. Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (default) selects a free port. */
  readonly port?: number;
  /** Allows a `host` beyond loopback. Default false. */
  readonly allowRemote?: boolean;
  /** Serves TLS with a CA and a certificate made at start. Default true. */
  readonly tls?: boolean;
  /** The bearer token that requests must carry. Default: a random token; '' also accepts requests without a token. */
  readonly token?: string;
  /** The revision before the first write. Default 1, like an empty etcd. */
  readonly firstRevision?: number;
  /** Number of events that each resource keeps for watches and old lists. Default 100,000. */
  readonly historyEventsMax?: number;
  /** Bytes of these events. Default 512 MiB; updates of the load generator share their bytes and hardly count. */
  readonly historyBytesMax?: number;
  /** Default 60,000, as the real server. */
  readonly bookmarkIntervalMs?: number;
  /**
   * A watch that is this many events behind is closed. Default 100,000, the whole history. (The real server
   * allows 10 to 1,000 events and a time budget, which would make tests depend on speed.)
   */
  readonly watchBacklogEventsMax?: number;
  /** A watch without timeoutSeconds lasts 1 to 2 times this. Default 1,800,000. */
  readonly watchTimeoutMs?: number;
  /** Time for which a read waits for a future revision, before `Too large resource version`. Default 3,000. */
  readonly freshnessTimeoutMs?: number;
  /** Default 3 MiB. */
  readonly requestBytesMax?: number;
  /**
   * Failure of a watch from too old a revision: a 410 inside the stream (default, as in the real server), or an HTTP
   * status.
   */
  readonly expiredWatch?: 'event' | 'status';
  /**
   * Treatment of `shardSelector` in LIST and WATCH. `ignores` (default): as servers without the feature gate
   * ShardedListAndWatch. `echoes`: filters and confirms it in typed lists, as servers with the gate. `filters`: filters
   * without confirmation.
   */
  readonly sharding?: 'ignores' | 'filters' | 'echoes';
  /** Custom resources; more can be registered later. */
  readonly resources?: readonly ResourceDefinition[];
}

export type ResolvedOptions = Required<ApiServerOptions>;

const MIB = 1024 * 1024;

export const API_SERVER_CHECKS: OptionChecks<ApiServerOptions> = {
  host: text,
  port: integer(0, 65_535),
  allowRemote: flag,
  tls: flag,
  token: aToken,
  firstRevision: integer(1),
  historyEventsMax: integer(0),
  historyBytesMax: integer(0),
  bookmarkIntervalMs: number(1),
  watchBacklogEventsMax: integer(0),
  watchTimeoutMs: number(1),
  freshnessTimeoutMs: number(0),
  requestBytesMax: integer(1),
  expiredWatch: oneOf('event', 'status'),
  sharding: oneOf('ignores', 'filters', 'echoes'),
  resources: RESOURCE_DEFINITIONS,
};

/** Refuses a token that no header can carry, which no request could present. The message does not quote it. */
function aToken(name: string, value: unknown): void {
  text(name, value);
  if (value === '' || (isToken(value) && value.trim() === value)) return;
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${name} must be empty, or a text that a header can carry`);
}

/** @throws ERR_KUBELOOM_OPTION */
export function resolveOptions(options: ApiServerOptions): ResolvedOptions {
  checkOptions('options of the embedded apiserver', options, API_SERVER_CHECKS);
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
    sharding: 'ignores',
    resources: [],
    // An option that is undefined counts as absent.
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
  if (!resolved.allowRemote && !isLoopbackHost(resolved.host)) {
    const message = `the embedded apiserver listens on loopback only; ${resolved.host} needs allowRemote: true`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  return resolved;
}

/**
 * The control messages between the main thread and the workers. Events never travel here: they go through
 * log and rings. Everything in this file is structured-cloneable.
 */
import type { ErrorMessage } from '../errors.ts';

/** How to reach one apiserver: everything that a TLS socket and a request need, no functions. */
export interface ConnectionOptions {
  /** Scheme, host and port, and a base path if any: `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Query parameters of one request, before encoding. */
export type Query = Readonly<Record<string, string>>;

/** What one reflector of the reflector thread has to list and watch. */
export interface ReflectorSpec {
  /** `/api/v1/pods` or `/apis/apps/v1/namespaces/x/deployments`. */
  readonly path: string;
  /** Selectors and whatever else every request carries. */
  readonly query: Query;
  /** Filled into list items, which the server sends without them. */
  readonly kind: string;
  readonly apiVersion: string;
  /** `auto`: try the streaming list first and fall back, as client-go does. */
  readonly watchList: 'auto' | 'off';
  /** client-go's WatchListPageSize: always page by so many; 0 = client-go's ladder. */
  readonly pageSize: number;
  /** Objects above are kept by identity only. */
  readonly recordBytesMax: number;
  /** Bounds of the random `timeoutSeconds` of a watch. */
  readonly watchTimeoutMinSeconds: number;
  readonly watchTimeoutMaxSeconds: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
}

export type ToReflector =
  | { readonly type: 'start'; readonly informer: number; readonly spec: ReflectorSpec }
  | { readonly type: 'stop'; readonly informer: number }
  | {
      readonly type: 'prepared';
      readonly request: number;
      readonly connection?: ConnectionOptions;
      readonly query?: Query;
      readonly error?: ErrorMessage;
    }
  | { readonly type: 'shutdown' };

/** What a reflector is doing, for health and for tests. */
export type ReflectorPhase =
  | 'connecting'
  | 'listing'
  | 'streaming-list'
  | 'watching'
  | 'backing-off'
  | 'paused'
  | 'stopped';

export type FromReflector =
  /** Before every request: where to, with which credentials and options (they may have changed). */
  | {
      readonly type: 'prepare';
      readonly request: number;
      readonly informer: number;
      readonly verb: 'list' | 'watch';
      readonly query: Query;
    }
  | { readonly type: 'phase'; readonly informer: number; readonly phase: ReflectorPhase }
  | {
      readonly type: 'error';
      readonly informer: number;
      readonly during: 'list' | 'watch' | 'decode';
      readonly error: ErrorMessage;
    }
  | { readonly type: 'stopped'; readonly informer: number }
  | { readonly type: 'closed' };

/** What a shard must know of an informer before its first record. */
export interface ShardSpec {
  /** Dotted paths whose raw values travel with every notification. */
  readonly fields: readonly string[];
  /** Dotted paths cut out of every object before it is stored. */
  readonly drop: readonly string[];
  /** A module whose export transforms parsed objects: an absolute URL and the export's name. */
  readonly transformModule?: { readonly url: string; readonly name: string };
  /** Modules that compute index values from parsed objects. */
  readonly indexModules: readonly { readonly index: string; readonly url: string; readonly name: string }[];
  readonly codec: 'json' | 'msgpack';
  /** The transform is a plain function of the main thread: pass objects through untouched. */
  readonly isRaw: boolean;
}

export type ToShard =
  | { readonly type: 'attach'; readonly informer: number; readonly spec: ShardSpec }
  | { readonly type: 'shutdown' };

export type FromShard =
  | { readonly type: 'attached'; readonly informer: number; readonly error?: ErrorMessage }
  | { readonly type: 'closed' };

/** Any thread: what have you done so far? Answered by the thread's loop, not by reflector or shard. */
export interface StatsRequest {
  readonly type: 'stats';
}

export interface ThreadStats {
  /** Deltas of all informers that went through. */
  readonly deltas: number;
  /** CPU time of the thread; undefined where the platform does not tell. */
  readonly cpuMs: number | undefined;
}

export interface ShardStats {
  /** Times that a shard found work without a bell: none, or the wake-up protocol is broken. */
  readonly lostWakeups?: number;
}

export interface StatsAnswer extends ThreadStats, ShardStats {
  readonly type: 'stats';
}

/** One end of a control channel: a MessagePort between threads, a queue in the in-process twin. */
export interface ControlPort<In, Out> {
  post(message: Out): void;
  /** Messages arrive one at a time, in order. */
  onMessage(listener: (message: In) => void): void;
}

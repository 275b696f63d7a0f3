/**
 * The control messages between the main thread and the workers. Events never travel here: they go through
 * log and rings. Everything in this file is structured-cloneable.
 */
import type { ConnectionOptions, Query } from '../kube/connection-options.ts';
import type { ErrorMessage } from '../base/errors.ts';
import type { ShardSelector } from '../kube/shard-selector.ts';
import type { Activity } from './activity.ts';

/** Specification of a reflector of the reflector thread. */
export interface ReflectorSpec {
  /** `/api/v1/pods` or `/apis/apps/v1/namespaces/x/deployments`. */
  readonly path: string;
  /** Selectors and all other parameters of every request. */
  readonly query: Query;
  /** The filter of the reflector itself, beside the parameter of that name. */
  readonly shardSelector?: ShardSelector;
  /** The Accept headers of the requests. Default: application/json. */
  readonly accept?: { readonly list: string; readonly watch: string };
  /** Whether the server may compress its answers with gzip. Default: false. */
  readonly acceptsGzip?: boolean;
  /** Whether the shards drop managedFields, so the server may leave them out; the reflector looks whether it does. */
  readonly dropsManagedFields?: boolean;
  /**
   * Kind for list items, which the server sends without it. '' when the kind is unknown: then every object is
   * accepted, and items get the kind of their list.
   */
  readonly kind: string;
  readonly apiVersion: string;
  /** `auto`: try the streaming list first and fall back, as client-go does. */
  readonly watchList: 'auto' | 'off';
  /** Version of the first list that is no streaming list. `any` (default): any state, the cheapest; as client-go. */
  readonly initialList?: 'any' | 'latest';
  /** client-go's WatchListPageSize: the page size of every list; 0: client-go's rules decide. */
  readonly pageSize: number;
  /** Size in bytes above which only the identity of an object is kept. */
  readonly objectBytesMax: number;
  /** Bounds of the random `timeoutSeconds` of a watch. */
  readonly watchTimeoutMinSeconds: number;
  readonly watchTimeoutMaxSeconds: number;
  /**
   * Longest time without a byte before a watch is replaced, connecting and the response's head included. Default: until
   * the watch times out, or bookmarks are missing.
   */
  readonly watchIdleTimeoutMs?: number;
  /** Longest time between two events of a streaming list. Default 30,000. */
  readonly watchListIdleTimeoutMs?: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** client-go's MaxInternalErrorRetryDuration: how long to retry at once. Default 0: never. */
  readonly maxInternalErrorRetryDurationMs?: number;
}

export type ToReflector =
  | {
      readonly type: 'start';
      readonly informer: number;
      readonly spec: ReflectorSpec;
      /** Counters of the informer (`allocateActivity`); a successor continues with them. */
      readonly counters: SharedArrayBuffer;
      /** Position of the cache after threads have ended. */
      readonly resume?: ResumePosition;
    }
  | { readonly type: 'stop'; readonly informer: number }
  | {
      readonly type: 'prepared';
      readonly request: number;
      readonly connection?: ConnectionOptions;
      readonly query?: Query;
      readonly error?: ErrorMessage;
    }
  | { readonly type: 'shutdown' };

export interface ResumePosition {
  /** The version that the list must have reached; '' before the first list. */
  readonly resourceVersion: string;
  /** Epoch of the last relist; the next relist takes a higher epoch. */
  readonly epoch: number;
}

/**
 * Main thread to reflector: the response of a user's ListerWatcher, in the form of HTTP. Data in messages is an
 * exception to the rule that data crosses threads through log and rings only. These objects are created on the
 * main thread, which reads the log and must never wait for room in it. Another ring would need a proof of correctness, and
 * the main thread must serialise the objects in any case.
 */
export type FeedAnswer = { readonly type: 'feed'; readonly request: number } & (
  | { readonly part: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly part: 'data'; readonly chunk: Uint8Array }
  | { readonly part: 'end'; readonly error?: ErrorMessage }
);

/** Reflector to main thread: the requests of an informer with a ListerWatcher. */
export type FeedRequest = { readonly type: 'feed'; readonly informer: number; readonly request: number } & (
  | { readonly part: 'open'; readonly path: string }
  /** The reader took this number of bytes: the feed may send as many again. */
  | { readonly part: 'taken'; readonly bytes: number }
  | { readonly part: 'close' }
);

/** All messages to the reflector. */
export type ToReflectorThread = ToReflector | FeedAnswer;
/** All messages to the reflector's thread. `beat` asks for a sign of life. */
export type ToReflectorWorker = ToReflectorThread | { readonly type: 'beat' };
/** All messages of the reflector's thread. `ready`: it has loaded its code and waits for the first message. */
export type FromReflectorThread = FromReflector | FeedRequest | { readonly type: 'ready' };

/** Activity of a reflector, for health and for tests. */
export type ReflectorPhase =
  | 'connecting'
  | 'listing'
  | 'streaming-list'
  | 'watching'
  | 'backing-off'
  | 'paused'
  | 'stopped';

/** Progress of a list; sent at most every 100 ms while it is read, and when it ends. */
export interface ListingProgress {
  /** Objects read so far, over all pages. */
  readonly items: number;
  /** Bytes of the responses' bodies. */
  readonly bytes: number;
  /** Total number of objects, if the server sends it: in lists with pages, after the first page. */
  readonly expectedItems?: number;
}

export type FromReflector =
  /** Request before every connection: for the server, credentials and options, which may have changed. */
  | {
      readonly type: 'prepare';
      readonly request: number;
      readonly informer: number;
      readonly verb: 'list' | 'watch';
      readonly query: Query;
      /** The server answered 401 to the last credentials: the main thread must renew them. */
      readonly isUnauthorized?: boolean;
    }
  | ({ readonly type: 'progress'; readonly informer: number } & ListingProgress)
  | { readonly type: 'phase'; readonly informer: number; readonly phase: ReflectorPhase }
  | { readonly type: 'activity'; readonly informer: number; readonly activity: Activity }
  | {
      readonly type: 'error';
      readonly informer: number;
      readonly during: 'list' | 'watch' | 'decode';
      readonly error: ErrorMessage;
    }
  | { readonly type: 'stopped'; readonly informer: number }
  | { readonly type: 'closed' };

/** Specification of an informer, which a shard receives before the informer's first record. */
export interface ShardSpec {
  /** Dotted paths whose raw values travel with every notification. */
  readonly fields: readonly string[];
  /** Dotted paths that are removed from every object before it is stored. */
  readonly drop: readonly string[];
  /** A module whose export transforms parsed objects: an absolute URL and the export's name. */
  readonly transformModule?: { readonly url: string; readonly name: string };
  /** Modules that compute index values from parsed objects. */
  readonly indexModules: readonly { readonly index: string; readonly url: string; readonly name: string }[];
  readonly codec: 'json' | 'msgpack';
  /** The transform is a plain function of the main thread: the shard passes objects on unchanged. */
  readonly isRaw: boolean;
  /** Bytes of items before the first item that is packed; undefined: none is packed. */
  readonly packBytesMin?: number;
}

export type ToShard =
  | { readonly type: 'attach'; readonly informer: number; readonly spec: ShardSpec }
  /** Sent if a shard failed to attach the informer, or if the informer stopped first. No records of it exist. */
  | { readonly type: 'detach'; readonly informer: number }
  | { readonly type: 'shutdown' };

export type FromShard =
  | { readonly type: 'attached'; readonly informer: number; readonly error?: ErrorMessage }
  /** The thread has loaded its code and waits for the first message. */
  | { readonly type: 'ready' }
  | { readonly type: 'closed' };

/** An end of a control channel: a MessagePort between threads, a queue in the in-process backend. */
export interface ControlPort<In, Out> {
  post(message: Out): void;
  /** Registers the listener. Messages arrive singly, in order. */
  onMessage(listener: (message: In) => void): void;
}

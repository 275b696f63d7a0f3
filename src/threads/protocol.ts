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
  /** The URL of the HTTP proxy on the way there, with its credentials. */
  readonly proxy?: string;
  /** The informer whose ListerWatcher, on the main thread, takes the server's place. */
  readonly feed?: number;
}

/** Query parameters of one request, before encoding. */
export type Query = Readonly<Record<string, string>>;

/** What one reflector of the reflector thread has to list and watch. */
export interface ReflectorSpec {
  /** `/api/v1/pods` or `/apis/apps/v1/namespaces/x/deployments`. */
  readonly path: string;
  /** Selectors and whatever else every request carries. */
  readonly query: Query;
  /** The Accept headers of the requests. Default: application/json. */
  readonly accept?: { readonly list: string; readonly watch: string };
  /**
   * Filled into list items, which the server sends without them. '' when nobody knows: then everything is taken
   * for an object of the informer's, and items get what their list says.
   */
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
  /** A watch without a byte for so long is replaced. Default: when its time is up, or bookmarks are missing. */
  readonly watchSilenceMaxMs?: number;
  /** Between two events of a streaming list. Default 30,000. */
  readonly streamingListSilenceMaxMs?: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** client-go's MaxInternalErrorRetryDuration: ask again at once for so long. Default 0: never. */
  readonly maxInternalErrorRetryDurationMs?: number;
  /** Compare every streaming list with a list at the same version. Default: no. */
  readonly checkConsistency?: boolean;
}

export type ToReflector =
  | {
      readonly type: 'start';
      readonly informer: number;
      readonly spec: ReflectorSpec;
      /** Where a reflector that ended had come to, as far as it was merged. */
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
  /** '' when nothing was listed yet. */
  readonly resourceVersion: string;
  /** Of the last relist; the next has a higher one. */
  readonly epoch: number;
  /** That relist is open: it is to be aborted, and the list made anew. */
  readonly isReplacing: boolean;
  /** It was told to stop, and its last word did not come. */
  readonly isStopping: boolean;
}

/**
 * Main thread to reflector: the answer of a user's ListerWatcher, as if it were HTTP. Data in messages is an
 * exception to "data crosses threads through log and rings only": these objects are born on the main thread,
 * which is a reader of the log and must never wait for room in it, and one more ring would have to be
 * proven for what costs a serialisation on the main thread anyway.
 */
export type FeedAnswer = { readonly type: 'feed'; readonly request: number } & (
  | { readonly part: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly part: 'data'; readonly chunk: Uint8Array }
  | { readonly part: 'end'; readonly error?: ErrorMessage }
);

/** Reflector to main thread: the requests of an informer with a ListerWatcher. */
export type FeedRequest = { readonly type: 'feed'; readonly informer: number; readonly request: number } & (
  | { readonly part: 'open'; readonly path: string }
  /** So much of the data was taken: as much again may follow. */
  | { readonly part: 'taken'; readonly bytes: number }
  | { readonly part: 'close' }
);

/** All that goes through the reflector thread's port, but for the requests for figures. */
export type ToReflectorThread = ToReflector | FeedAnswer;
export type FromReflectorThread = FromReflector | FeedRequest;

/** What a reflector is doing, for health and for tests. */
export type ReflectorPhase =
  | 'connecting'
  | 'listing'
  | 'streaming-list'
  | 'watching'
  | 'backing-off'
  | 'paused'
  | 'stopped';

/** How far a list has come; told at most every 100 ms while it is read, and at its end. */
export interface ListingProgress {
  /** Objects read so far, over all pages. */
  readonly items: number;
  /** Bytes of the responses' bodies. */
  readonly bytes: number;
  /** In all, where the server says so: lists in pages do after the first one. */
  readonly expectedItems?: number;
}

export type FromReflector =
  /** Before every request: where to, with which credentials and options (they may have changed). */
  | {
      readonly type: 'prepare';
      readonly request: number;
      readonly informer: number;
      readonly verb: 'list' | 'watch';
      readonly query: Query;
      /** The server answered 401 to the last credentials: these must be new ones, not remembered. */
      readonly isRefused?: boolean;
    }
  | ({ readonly type: 'progress'; readonly informer: number } & ListingProgress)
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

/**
 * Some of the keys that a shard's predecessor knew. Words, five a key: id; hash; length of the namespace; length of
 * the name; 1 if the live replica has it, plus 2 if the open relist has shown it. Bytes: namespace and name, in a row.
 * Versions, one a key: a text where it is no number below 2^53.
 */
export interface KeySeed {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly versions: readonly (number | string)[];
}

export type ToShard =
  | { readonly type: 'attach'; readonly informer: number; readonly spec: ShardSpec }
  /** To a successor only, after `attach`. */
  | {
      readonly type: 'seed';
      readonly informer: number;
      /** Of the relist that is open. */
      readonly epoch: number | undefined;
      readonly keys: KeySeed;
    }
  /** To a successor only, after all seeds: it may begin, behind the sequence `after`. */
  | {
      readonly type: 'resume';
      readonly after: number;
      /** Records that ended threads twice. */
      readonly quarantined: readonly number[];
    }
  | { readonly type: 'shutdown' };

export type FromShard =
  | { readonly type: 'attached'; readonly informer: number; readonly error?: ErrorMessage }
  | { readonly type: 'resumed' }
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
  /** Times that it found work without having been woken: none, or the wake-up protocol is broken. */
  readonly lostWakeups?: number;
}

export interface StatsAnswer extends ThreadStats {
  readonly type: 'stats';
}

/** One end of a control channel: a MessagePort between threads, a queue in the in-process twin. */
export interface ControlPort<In, Out> {
  post(message: Out): void;
  /** Messages arrive one at a time, in order. */
  onMessage(listener: (message: In) => void): void;
}

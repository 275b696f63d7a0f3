/** What the main thread keeps of an informer that these threads serve. */
import type { KubeloomError } from '../errors.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { InformerMerge } from '../processor/informer-merge.ts';
import type { ListWatchFeed } from './list-watch-feed.ts';
import type {
  ConnectionOptions,
  ListingProgress,
  Query,
  ReflectorPhase,
  ReflectorSpec,
  ShardSpec,
} from './protocol.ts';

/** One informer, as the threads see it. */
export interface PipelineClient {
  readonly merge: InformerMerge;
  readonly shardSpec: ShardSpec;
  readonly reflectorSpec: ReflectorSpec;
  /** In the place of a server: functions of this thread. */
  readonly listerWatcher?: ListerWatcher<unknown>;
  /**
   * Without a `listerWatcher`: credentials and options for the next request.
   *
   * @param isRefused the server did not accept the last credentials: remembered ones will not do
   */
  prepare?(
    verb: 'list' | 'watch',
    query: Query,
    isRefused: boolean,
  ): Promise<{ connection: ConnectionOptions; query: Query }>;
  /** The user's say in what every request asks for; what it throws fails the request. */
  tweak?(query: Query): Query;
  phase(phase: ReflectorPhase): void;
  /** How far the list that is being read has come. */
  progress?(progress: ListingProgress): void;
  error(during: 'list' | 'watch' | 'decode', error: KubeloomError): void;
  /** A thread was replaced: everything goes on. */
  restarted?(error: KubeloomError): void;
  /** The threads are gone; nothing more will come. */
  failed(error: KubeloomError): void;
}

export interface Attachment {
  readonly client: PipelineClient;
  /** Of the reflector that runs: a new one asks anew. */
  feed: ListWatchFeed | undefined;
  /** Shards that have not answered `attach`. */
  readonly unanswered: Set<number>;
  readonly attached: (error: KubeloomError | undefined) => void;
  /** The reflector was told to begin. */
  isStarted: boolean;
  /** It is being stopped. */
  detached: (() => void) | undefined;
}

export type Attachments = ReadonlyMap<number, Attachment>;

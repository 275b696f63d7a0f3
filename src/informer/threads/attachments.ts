/** Informers that the threads serve, by number, and their registration with every shard. */
import { KubeloomError, fromErrorMessage } from '../../base/errors.ts';
import { abortable } from '../../base/on-abort.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import type { InformerMerge } from '../../replica/merge/informer-merge.ts';
import type {
  FeedAnswer,
  FromShard,
  ListingProgress,
  ReflectorPhase,
  ReflectorSpec,
  ShardSpec,
} from '../../shared/protocol.ts';
import type { ConnectionOptions, Query } from '../../kube/connection-options.ts';
import type { Activity } from '../../shared/activity.ts';
import type { Backends } from './backends.ts';
import { ListWatchFeed } from './list-watch-feed.ts';

/** An informer, as the threads see it. */
export interface PipelineClient {
  readonly merge: InformerMerge;
  readonly shardSpec: ShardSpec;
  readonly reflectorSpec: ReflectorSpec;
  /** Functions of the main thread that list and watch instead of a server. */
  readonly listerWatcher?: ListerWatcher<unknown>;
  /**
   * Returns credentials and address for the next request. Needed without a `listerWatcher`.
   *
   * @param isUnauthorized whether the server refused the last credentials, so that cached credentials must not be used
   */
  connect?(isUnauthorized: boolean): Promise<ConnectionOptions>;
  /** Applies the user's change to the query of every request; an error fails the request. */
  tweak?(query: Query): Query;
  phase(phase: ReflectorPhase): void;
  progress?(progress: ListingProgress): void;
  readonly error: (error: KubeloomError, during: 'list' | 'watch' | 'decode') => void;
  /** Counters that the reflector keeps. */
  readonly counters: SharedArrayBuffer;
  activity(activity: Activity): void;
  /** Reports that a thread ended and new threads have begun; the informer continues. */
  restarted?(error: KubeloomError): void;
  /** Reports that the informer lost the threads; there are no deliveries after that. */
  failed(error: KubeloomError): void;
}

export interface Attachment {
  readonly client: PipelineClient;
  /**
   * Answers requests of the current reflector since the reflector's start. A successor sends the requests again, to a
   * new feed.
   */
  feed?: ListWatchFeed | undefined;
  /** Shards that did not answer `attach` yet. */
  readonly unanswered: Set<number>;
  /** Called when all shards have answered, or one with an error. */
  attached: (error: KubeloomError | undefined) => void;
  /**
   * `started`: `start` was sent to the reflector. `again`: it was sent to a reflector that has ended, and new shards have
   * not answered yet.
   */
  phase: 'attaching' | 'started' | 'again';
  /** Resolves a pending `detach`; undefined unless the informer is being stopped. */
  detached?: () => void;
}

/** Limit of the 16 bits in a record for the informer's number. */
const INFORMERS_MAX = 0xffff;

export class AttachmentTable extends Map<number, Attachment> {
  readonly #shards: number;
  readonly #backends: () => Backends | undefined;
  #next = 1;

  /** @param backends returns the present threads */
  constructor(shards: number, backends: () => Backends | undefined) {
    super();
    this.#shards = shards;
    this.#backends = backends;
  }

  freeNumber(): number {
    for (let tries = 0; tries < INFORMERS_MAX; tries++) {
      const informer = this.#next;
      this.#next = (this.#next % INFORMERS_MAX) + 1;
      if (!this.has(informer)) return informer;
    }
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `at most ${INFORMERS_MAX} informers can share threads`);
  }

  /**
   * Resolves when every shard has answered. Rejects with the first error of a shard, for example about a module that
   * cannot be loaded, and when `signal` is aborted. After a rejection neither this table nor a shard keeps the
   * informer.
   */
  async attach(informer: number, client: PipelineClient, signal: AbortSignal | undefined): Promise<void> {
    try {
      signal?.throwIfAborted();
      const answered = new Promise<void>((resolve, reject) => {
        const attached = (error: KubeloomError | undefined): void => (error ? reject(error) : resolve());
        this.set(informer, { client, unanswered: new Set(), attached, phase: 'attaching' });
      });
      this.send(informer);
      await abortable(answered, signal);
    } catch (error) {
      this.remove(informer);
      throw error;
    }
  }

  /** Forgets an informer that has no records: a shard failed to attach it, or it ended before its start. */
  remove(informer: number): void {
    this.delete(informer);
    for (let shard = 0; shard < this.#shards; shard++)
      this.#backends()?.current.toShard(shard, { type: 'detach', informer });
  }

  /**
   * Sends the informer to all shards; `attached` follows. An informer with modules waits for worker threads, which call
   * this function again.
   */
  send(informer: number): void {
    const attachment = this.get(informer);
    const backends = this.#backends();
    if (!attachment || !backends) return;
    const { shardSpec: spec } = attachment.client;
    if (backends.mustWait(spec)) return;
    for (let shard = 0; shard < this.#shards; shard++) {
      attachment.unanswered.add(shard);
      backends.current.toShard(shard, { type: 'attach', informer, spec });
    }
  }

  /** Marks an informer whose `start` goes to a reflector, and opens the feed. */
  started(informer: number): void {
    const attachment = this.get(informer);
    if (!attachment) return;
    attachment.phase = 'started';
    const { listerWatcher, error } = attachment.client;
    const onError = (thrown: KubeloomError): void => error(thrown, 'watch');
    if (!listerWatcher) return;
    const post = (answer: FeedAnswer): void => this.#backends()?.current.toReflector(answer);
    attachment.feed = new ListWatchFeed(listerWatcher, { informer, post, onError });
  }

  /** Takes the answer of a shard. */
  answered(shard: number, { informer, error }: Extract<FromShard, { type: 'attached' }>): void {
    const attachment = this.get(informer);
    if (!attachment?.unanswered.delete(shard)) return;
    if (error) attachment.attached(fromErrorMessage(error));
    else if (attachment.unanswered.size === 0) attachment.attached(undefined);
  }
}

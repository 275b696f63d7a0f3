/**
 * Threads that informers share: a reflector, N shards, the memory between them, and the drain budget of the main
 * thread. Construct an instance and pass it to informers, or let them share the threads of the process.
 */
import { backgroundClock, realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { publish } from '../../metrics/channels.ts';
import { registerMetrics } from '../../metrics/collect.ts';
import { KubeloomError, assert, fromErrorMessage, toErrorMessage } from '../../base/errors.ts';
import { leastBytes, resolveThreadsOptions, shardsOf } from './threads-options.ts';
import type { ResolvedThreadsOptions, ThreadsOptions } from './threads-options.ts';
import { BacklogBudget } from '../../replica/deliver/backlog-budget.ts';
import { Drain } from '../../replica/merge/drain.ts';
import { SequenceMerger } from '../../replica/merge/sequence-merger.ts';
import { RingMemory } from '../../shared/ring/ring.ts';
import { StampReader } from '../../shared/stamps.ts';
import { StoreMemory } from '../../replica/store/store-memory.ts';
import { AttachmentTable } from './attachments.ts';
import type { Attachment, PipelineClient } from './attachments.ts';
import { roleName } from './backend.ts';
import type { Role, ThreadsParts } from './backend.ts';
import { Backends } from './backends.ts';
import { BellWatch } from '../../shared/ring/bell-watch.ts';
import { PipelineWords, allocatePipeline, emptyPipeline } from '../../shared/pipeline-layout.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import { ThreadsMetrics } from './threads-metrics.ts';
import type { RoleStats } from './threads-metrics.ts';
import { MainLoop } from './main-loop.ts';
import type {
  FromReflector,
  FromReflectorThread,
  FromShard,
  ResumePosition,
  ShardSpec,
  ToReflector,
} from '../../shared/protocol.ts';
import { Supervisor } from './supervisor.ts';
import type { Culprit } from './supervisor.ts';
import type { ThreadSign, ThreadSigns } from './supervisor-step.ts';

type PreparedAnswer = Omit<Extract<ToReflector, { type: 'prepared' }>, 'type' | 'request'>;

interface Running {
  readonly backends: Backends;
  readonly supervisor: Supervisor;
}

/**
 * The threads of informers: the reflector's thread and the indexer threads, which several informers can share. By default
 * the informers begin on the calling thread, and change to these threads once they pay (`indexerThreads`).
 */
export class InformerThreads {
  /** The given options and the defaults of the others. */
  readonly options: ResolvedThreadsOptions;
  /** @internal */
  readonly drain: Drain;
  /** @internal */
  readonly storeMemory: StoreMemory;
  readonly #memory: PipelineMemory;
  readonly #merger: SequenceMerger;
  readonly #loop: MainLoop;
  readonly #bellWatch: BellWatch | undefined;
  readonly #words: PipelineWords;
  readonly #parts: ThreadsParts;
  readonly #clock: Clock;
  /** Started with the first running informer: an informer that is only constructed does not keep the process alive. */
  #running: Running | undefined;
  #isUnref = false;
  /** Number of records that ended threads had published and that were dropped. */
  #dropped = 0;
  /** Name in metrics. */
  #name = '';
  #metrics: ThreadsMetrics | undefined;
  #endMetrics = (): void => undefined;
  readonly #attachments: AttachmentTable;
  #failure: KubeloomError | undefined;
  readonly #closed: AbortController = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options?: ThreadsOptions);
  /** @internal */
  constructor(options?: ThreadsOptions, parts?: ThreadsParts);
  constructor(options: ThreadsOptions = {}, parts: ThreadsParts = {}) {
    this.options = resolveThreadsOptions(options);
    this.#parts = parts;
    this.#clock = parts.clock ?? backgroundClock;
    this.#loop = new MainLoop(parts.timers);
    const { indexerThreads, logBytes, ringBytes, drainBudgetMs } = this.options;
    this.storeMemory = new StoreMemory({
      ...this.options,
      packBytesMin: parts.packBytesMin,
      memoryBytes: leastBytes(),
      slabBytes: parts.slabBytes,
      clock: this.#clock,
      merged: () => this.#merger.merged,
      afterNextMerge: (callback) => this.#afterNextMerge(callback),
    });
    const memory = parts.memory ?? allocatePipeline(shardsOf(this.options), logBytes, ringBytes);
    this.#memory = memory;
    this.#attachments = new AttachmentTable(memory.toShard.length, () => this.#running?.backends);
    const words = new PipelineWords(memory, this.#loop.rang);
    this.#words = words;
    if (indexerThreads !== 0)
      this.#bellWatch = new BellWatch(words.mainBell, backgroundClock, () => this.unmerged > 0);
    this.#merger = new SequenceMerger({
      shards: memory.toMain.map((buffer, shard) => ({
        ring: new RingMemory(buffer),
        bell: words.shard(shard).bell,
      })),
      log: Buffer.from(memory.log),
      merged: words.merged,
      reflectorBell: words.reflectorBell,
      stamps: new StampReader(memory.stamps),
      clock: this.#clock,
      broken: (cause, shard) => this.#died(shard, cause),
    });
    const backlogs = new BacklogBudget(this.options.backlogBytesMax, this.#clock);
    this.drain = new Drain(this.#merger, parts.clock ?? realClock, drainBudgetMs, backlogs);
  }

  /** @internal Aborted with a KubeloomError when the threads are closed: handlers receive no further notification. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Number of shards, also when they run in-process. */
  get shards(): number {
    return this.#memory.toShard.length;
  }

  /** @internal Records of all informers that the reflector received and the main thread did not merge yet. */
  get unmerged(): number {
    return (this.#words.committed.load() - this.#merger.merged) >>> 0;
  }

  /** @internal Requests a drain soon, for example after a handler's promise settled or a cursor was queued. */
  requestRun(): void {
    this.#loop.wake();
  }

  /** Lets the process exit while informers run. */
  unref(): void {
    this.#isUnref = true;
    this.#running?.backends.unref();
  }

  /**
   * @internal Attaches the informer to every shard, then starts the reflector.
   *
   * @returns the number of the informer; undefined if `signal` was aborted before all shards loaded the modules
   */
  async attach(client: PipelineClient, signal?: AbortSignal): Promise<number | undefined> {
    if (this.#failure) throw this.#failure;
    if (this.#closing) throw new KubeloomError('ERR_KUBELOOM_STOPPED', 'these informer threads were closed');
    this.#running ??= this.#start(client);
    const informer = this.#attachments.freeNumber();
    this.#merger.attach(informer, client.merge);
    try {
      await this.#attachments.attach(informer, client, signal);
    } catch (error) {
      this.#merger.detach(informer);
      if (signal?.aborted) return undefined;
      throw error;
    }
    this.#startReflector(informer, client);
    return informer;
  }

  /** @internal Stops the reflector of an informer; resolves when all records of the reflector are merged. */
  async detach(informer: number): Promise<void> {
    const attachment = this.#attachments.get(informer);
    if (!attachment) return;
    if (!this.#failure && attachment.phase === 'started') {
      await new Promise<void>((resolve) => {
        attachment.detached = resolve;
        this.#running?.backends.current.toReflector({ type: 'stop', informer });
      });
    }
    this.#forget(informer, attachment);
  }

  /**
   * Resolves a pending `detach`: the informer's last control record is merged, so there are no further records of the
   * informer.
   *
   * @internal
   */
  confirmDetached(informer: number): void {
    this.#attachments.get(informer)?.detached?.();
  }

  /**
   * Returns figures of each role so far, including replaced threads: `reflector`, `shard 0` …, `main`. Empty before the
   * first informer runs; after `close` the final figures.
   */
  stats(): readonly RoleStats[] {
    return this.#metrics?.stats() ?? [];
  }

  /** Ends the threads. Informers that still run on them end with ERR_KUBELOOM_STOPPED. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#running?.supervisor.close();
    await this.#running?.backends.close();
    const closed = new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      'the informer threads were closed while this informer used them; close the threads when shutdown() has resolved',
    );
    // Informers that still run lose their threads; end them instead of letting them wait for answers.
    this.#failed(closed);
    this.#bellWatch?.close();
    this.#loop.stop();
    this.#closed.abort(closed);
    this.#endMetrics();
  }

  #start({ shardSpec }: PipelineClient): Running {
    const backends = this.#newBackends(shardSpec);
    const isThreaded = (): boolean => backends.current.isThreaded;
    const supervisor = new Supervisor({
      clock: this.#clock,
      limits: this.options,
      signs: () => this.#signs(isThreaded()),
      ticked: () => {
        backends.current.askForHeartbeats();
        this.#bellWatch?.watch();
      },
      end: () => backends.current.end(),
      restart: (error, role, culprit) => this.#restart(error, role, culprit),
      failed: (error) => this.#failed(error),
    });
    this.#metrics = new ThreadsMetrics({
      memory: this.#memory,
      isThreaded,
      publishUsage: () => backends.current.publishUsage(),
      supervisor,
      merger: this.#merger,
      decodedCache: this.storeMemory.decodedCache,
      received: () => this.#merger.records + this.unmerged + this.#dropped,
      lostWakeups: () => this.#bellWatch?.lostWakeups ?? 0,
    });
    const registration = registerMetrics(this.#metrics);
    this.#name = registration.name;
    this.#endMetrics = registration.end;
    this.#drive(backends);
    return { backends, supervisor };
  }

  #newBackends(shardSpec: ShardSpec): Backends {
    const options = {
      memory: this.#memory,
      options: this.options,
      parts: this.#parts,
      clock: this.#clock,
      wake: this.#loop.wake,
      events: {
        fromReflector: (message: FromReflectorThread) => this.#fromReflector(message),
        fromShard: (shard: number, message: FromShard) => this.#fromShard(shard, message),
        died: (role: Role, cause: unknown) => this.#died(role, cause),
      },
      changed: () => this.#changed(),
      refused: (error: KubeloomError) => this.#refused(error),
    };
    return new Backends(options, shardSpec, this.#isUnref);
  }

  #drive({ current }: Backends): void {
    const bell = current.isThreaded ? this.#bellWatch : undefined;
    this.#loop.start({ drain: this.drain, bell, inProcess: current });
  }

  #died(role: Role, cause: unknown): void {
    this.#running?.supervisor.died({ role, cause, informer: this.#signOf(role).informer });
  }

  #signs(isThreaded: boolean): ThreadSigns {
    const roles: readonly Role[] = isThreaded ? [...this.#memory.toShard.keys(), 'reflector'] : [];
    return new Map(roles.map((role) => [role, this.#signOf(role)]));
  }

  #signOf(role: Role): ThreadSign {
    if (role === 'reflector') return { heartbeat: this.#words.reflectorHeartbeat.load(), informer: 0 };
    const { heartbeat, working } = this.#words.shard(role);
    return { heartbeat: heartbeat.load(), informer: working.load() };
  }

  #restart(error: KubeloomError, role: Role, culprit: Culprit | undefined): void {
    this.#empty();
    this.#running?.backends.restart();
    publish('kubeloom:thread', () => ({ threads: this.#name, role: roleName(role), code: error.code }));
    this.#continueAll(error, culprit);
  }

  /** Continues on worker threads: a restart without a failure. */
  #changed(): void {
    this.#empty();
    this.#continueAll(undefined, undefined);
    this.#running?.supervisor.began();
  }

  #refused(error: KubeloomError): void {
    for (const [, { client, phase, unanswered, attached }] of this.#attachments) {
      // The informer waited for the threads, because it has modules.
      if (phase === 'attaching' && unanswered.size === 0) attached(error);
      else client.restarted?.(error);
    }
  }

  /** Drops what ended threads had published and this thread did not merge, because every informer lists again. */
  #empty(): void {
    this.#dropped += this.unmerged;
    emptyPipeline(this.#memory, this.#merger.merged);
    this.#merger.restart();
  }

  /**
   * Continues every informer on new threads.
   *
   * @param error the end of a thread, if that is the reason
   */
  #continueAll(error: KubeloomError | undefined, culprit: Culprit | undefined): void {
    const running = this.#running;
    if (!running) return;
    this.#drive(running.backends);
    // The attachments so far: a callback may attach an informer, or end one.
    const attachments = [...this.#attachments];
    for (const [informer, attachment] of attachments) {
      if (this.#attachments.get(informer) !== attachment) continue;
      const { client, phase, detached } = attachment;
      if (informer === culprit?.informer) this.#end(informer, attachment, culprit.error);
      else if (detached) detached();
      else {
        if (phase !== 'attaching') this.#continue(informer, attachment, error !== undefined);
        this.#attachments.send(informer);
        if (error) client.restarted?.(error);
      }
    }
  }

  /** Lists again for a started informer when the new shards have accepted it. */
  #continue(informer: number, attachment: Attachment, isFailure: boolean): void {
    const { client, feed } = attachment;
    const resume = client.merge.restart(isFailure);
    feed?.close();
    attachment.phase = 'again';
    attachment.attached = (error) => {
      if (error) this.#end(informer, attachment, error);
      else this.#startReflector(informer, client, resume);
    };
  }

  #startReflector(informer: number, client: PipelineClient, resume?: ResumePosition): void {
    this.#attachments.started(informer);
    const { reflectorSpec: spec, counters } = client;
    const start = { type: 'start', informer, spec, counters, ...(resume && { resume }) } as const;
    this.#running?.backends.current.toReflector(start);
  }

  /** Ends a single informer. */
  #end(informer: number, attachment: Attachment, error: KubeloomError): void {
    const { client, phase, attached, detached } = attachment;
    this.#forget(informer, attachment);
    if (phase === 'attaching') attached(error);
    detached?.();
    client.failed(error);
  }

  #forget(informer: number, { feed, phase }: Attachment): void {
    feed?.close();
    this.#merger.detach(informer);
    // Shards that have no record of the informer do not learn of the end from the rings.
    if (phase === 'started') this.#attachments.delete(informer);
    else this.#attachments.remove(informer);
  }

  #fromReflector(message: FromReflectorThread): void {
    if (message.type === 'closed' || message.type === 'ready') return;
    const attachment = this.#attachments.get(message.informer);
    if (!attachment) return;
    const { client, feed } = attachment;
    switch (message.type) {
      case 'prepare':
        void this.#prepare(client, message);
        break;
      case 'phase':
        client.phase(message.phase);
        break;
      case 'progress': {
        const { type: _type, informer: _informer, ...progress } = message;
        client.progress?.(progress);
        break;
      }
      case 'error':
        client.error(fromErrorMessage(message.error), message.during);
        break;
      case 'activity':
        client.activity(message.activity);
        break;
      case 'feed':
        feed?.receive(message);
        break;
      default:
    }
  }

  async #prepare(
    client: PipelineClient,
    message: Extract<FromReflector, { type: 'prepare' }>,
  ): Promise<void> {
    const { request, isUnauthorized = false } = message;
    // An answer to a reflector that has ended must not reach the next.
    const backend = this.#running?.backends.current;
    const answer = (prepared: PreparedAnswer): void => {
      if (this.#running?.backends.current === backend)
        backend?.toReflector({ type: 'prepared', request, ...prepared });
    };
    try {
      const query = client.tweak?.(message.query) ?? message.query;
      const feed = this.#attachments.get(message.informer)?.feed;
      const connection = feed ? feed.connection : await client.connect?.(isUnauthorized);
      assert(connection !== undefined, 'a client has a listerWatcher or connects');
      answer({ connection, query });
    } catch (error) {
      answer({ error: toErrorMessage(error) });
    }
  }

  #afterNextMerge(callback: () => void): void {
    const { merged } = this.#merger;
    const look = (): false => {
      if (this.#merger.merged === merged) return false;
      this.drain.removeMaintenance(look);
      callback();
      return false;
    };
    this.drain.addMaintenance(look);
  }

  #fromShard(shard: number, message: FromShard): void {
    if (message.type === 'attached') this.#attachments.answered(shard, message);
    this.#loop.wake();
  }

  /** Ends all informers. Only the first failure counts, because a thread that throws also ends. */
  #failed(error: KubeloomError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#running?.supervisor.close();
    void this.#running?.backends.endStart();
    const attachments = [...this.#attachments];
    for (const [informer, attachment] of attachments) this.#end(informer, attachment, error);
  }
}

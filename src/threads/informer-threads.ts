/**
 * The threads that informers share: one reflector, N shards, the memory between them, and the one drain
 * budget of the main thread. Create one and pass it to informers, or let them share the process default.
 */
import { realClock } from '../clock.ts';
import { KubeloomError, fromErrorMessage, toErrorMessage } from '../errors.ts';
import { resolveThreadsOptions } from '../options.ts';
import type { ResolvedThreadsOptions, ThreadsOptions } from '../options.ts';
import { Drain } from '../processor/drain.ts';
import type { InformerMerge } from '../processor/informer-merge.ts';
import { Processor } from '../processor/processor.ts';
import { RingConsumer } from '../ring/consumer.ts';
import { RingMemory } from '../ring/ring.ts';
import { DecodedCache } from '../store/decoded-cache.ts';
import type { Backend, BackendEvents } from './backend.ts';
import { PipelineWords, allocatePipeline } from './layout.ts';
import type { PipelineMemory } from './layout.ts';
import { MainLoop } from './main-loop.ts';
import type {
  ConnectionOptions,
  FromReflector,
  FromShard,
  Query,
  ReflectorPhase,
  ReflectorSpec,
  ShardSpec,
  ShardStats,
  StatsAnswer,
  ThreadStats,
} from './protocol.ts';
import { threadCpuMs } from './thread-cpu.ts';
import { TwinBackend } from './twin-backend.ts';
import { WorkerBackend } from './worker-backend.ts';

/** One informer, as the threads see it. */
export interface PipelineClient {
  readonly merge: InformerMerge;
  readonly shardSpec: ShardSpec;
  readonly reflectorSpec: ReflectorSpec;
  /** Credentials and options for the next request. */
  prepare(verb: 'list' | 'watch', query: Query): Promise<{ connection: ConnectionOptions; query: Query }>;
  phase(phase: ReflectorPhase): void;
  error(during: 'list' | 'watch' | 'decode', error: KubeloomError): void;
  /** The threads are gone; nothing more will come. */
  failed(error: KubeloomError): void;
}

export interface RoleStats extends ThreadStats, ShardStats {
  /** `reflector`, `shard 0` …, `main`. */
  readonly role: string;
}

interface Attachment {
  readonly client: PipelineClient;
  readonly unanswered: Set<number>;
  readonly attached: (error: KubeloomError | undefined) => void;
  detached: (() => void) | undefined;
}

const INFORMERS_MAX = 0xffff;

export class InformerThreads {
  readonly options: ResolvedThreadsOptions;
  readonly drain: Drain;
  readonly decodedCache: DecodedCache;
  readonly #memory: PipelineMemory;
  readonly #processor: Processor;
  readonly #loop: MainLoop;
  /** Started with the first informer that runs: one that is only made keeps no process alive. */
  #backend: Backend | undefined;
  #twin: TwinBackend | undefined;
  #isUnref = false;
  readonly #attachments: Map<number, Attachment> = new Map();
  #nextInformer = 1;
  readonly #statsWaiters: Map<string, ((stats: RoleStats) => void)[]> = new Map();
  #failure: KubeloomError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ThreadsOptions = {}) {
    this.options = resolveThreadsOptions(options);
    const { threads, logBytes, ringBytes, drainBudgetMs, decodedCacheBytes } = this.options;
    this.decodedCache = new DecodedCache(decodedCacheBytes);
    const memory = allocatePipeline(Math.max(1, threads), logBytes, ringBytes);
    this.#memory = memory;
    const words = new PipelineWords(memory, threads === 0 ? () => this.kick() : undefined);
    this.#processor = new Processor({
      shards: memory.toMain.map((buffer, shard) => ({
        ring: new RingConsumer(new RingMemory(buffer)),
        bell: words.shard(shard).bell,
      })),
      log: Buffer.from(memory.log),
      merged: words.merged,
      reflectorBell: words.reflectorBell,
    });
    this.drain = new Drain(this.#processor, realClock, drainBudgetMs);
    this.#loop = new MainLoop(this.drain, words.mainBell, () => this.#twin?.turn() ?? false);
  }

  /** Number of shards that do the work, also when they run in-process. */
  get shards(): number {
    return this.#memory.toShard.length;
  }

  /** Asks for a drain soon: a handler's promise was settled, a cursor was queued. */
  kick(): void {
    this.#loop.kick();
  }

  /** Lets the process end although informers run. */
  unref(): void {
    this.#isUnref = true;
    this.#backend?.unref();
  }

  /** Makes the informer known to every shard, then starts its reflector. Returns its number. */
  async attach(client: PipelineClient): Promise<number> {
    if (this.#failure) throw this.#failure;
    if (this.#closing) throw new KubeloomError('ERR_KUBELOOM_STOPPED', 'these informer threads were closed');
    const backend = (this.#backend ??= this.#startBackend());
    const informer = this.#freeNumber();
    this.#processor.attach(informer, client.merge);
    try {
      await this.#attachToShards(backend, informer, client);
    } catch (error) {
      this.#processor.detach(informer);
      this.#attachments.delete(informer);
      throw error;
    }
    backend.toReflector({ type: 'start', informer, spec: client.reflectorSpec });
    return informer;
  }

  /** Resolves when every shard has answered; rejects with the first that cannot, e.g. load a module. */
  #attachToShards(backend: Backend, informer: number, client: PipelineClient): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const attached = (error: KubeloomError | undefined): void => (error ? reject(error) : resolve());
      const unanswered = new Set(Array.from({ length: this.shards }, (_, shard) => shard));
      this.#attachments.set(informer, { client, unanswered, attached, detached: undefined });
      for (const shard of unanswered) {
        backend.toShard(shard, { type: 'attach', informer, spec: client.shardSpec });
      }
    });
  }

  /** Stops the reflector of an informer; resolves when everything it had sent is merged. */
  async detach(informer: number): Promise<void> {
    const attachment = this.#attachments.get(informer);
    if (!attachment) return;
    if (!this.#failure) {
      await new Promise<void>((resolve) => {
        attachment.detached = resolve;
        this.#backend?.toReflector({ type: 'stop', informer });
      });
    }
    this.#processor.detach(informer);
    this.#attachments.delete(informer);
  }

  /** The control record of an informer's end was merged: nothing of it is on its way any more. */
  confirmDetached(informer: number): void {
    this.#attachments.get(informer)?.detached?.();
  }

  /** What each thread has done so far. The twin's reflector and shard run on `main`. */
  async stats(): Promise<readonly RoleStats[]> {
    const backend = this.#backend;
    if (this.#failure) throw this.#failure;
    if (!backend) return [];
    const ask = (role: string, send: () => void): Promise<RoleStats> =>
      new Promise((resolve) => {
        this.#statsWaiters.set(role, [...(this.#statsWaiters.get(role) ?? []), resolve]);
        send();
      });
    const shards = Array.from({ length: this.shards }, (_, shard) =>
      ask(shardRole(shard), () => backend.toShard(shard, { type: 'stats' })),
    );
    const reflector = ask('reflector', () => backend.toReflector({ type: 'stats' }));
    const deltas = this.#processor.merged;
    return [await reflector, ...(await Promise.all(shards)), { role: 'main', deltas, cpuMs: threadCpuMs() }];
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#backend?.close();
    // Informers that still ran lose their threads: they must not wait for an answer that never comes.
    this.#failed(
      new KubeloomError('ERR_KUBELOOM_STOPPED', 'the informer threads were closed under this informer'),
    );
    this.#loop.stop();
  }

  #startBackend(): Backend {
    const events: BackendEvents = {
      fromReflector: (message) => this.#fromReflector(message),
      fromShard: (shard, message) => this.#fromShard(shard, message),
      failed: (error) => this.#failed(error),
    };
    this.#loop.kick();
    if (this.options.threads === 0) {
      this.#twin = new TwinBackend(this.#memory, events, () => this.kick());
      return this.#twin;
    }
    const workers = new WorkerBackend(this.#memory, events);
    if (this.#isUnref) workers.unref();
    return workers;
  }

  #answerStats(role: string, { type: _type, ...stats }: StatsAnswer): void {
    for (const resolve of this.#statsWaiters.get(role) ?? []) resolve({ role, ...stats });
    this.#statsWaiters.delete(role);
  }

  #fromReflector(message: FromReflector | StatsAnswer): void {
    if (message.type === 'stats') {
      this.#answerStats('reflector', message);
      return;
    }
    if (message.type === 'closed') return;
    const client = this.#attachments.get(message.informer)?.client;
    if (!client) return;
    switch (message.type) {
      case 'prepare':
        void this.#prepare(client, message);
        break;
      case 'phase':
        client.phase(message.phase);
        break;
      case 'error':
        client.error(message.during, fromErrorMessage(message.error));
        break;
      case 'stopped':
        break;
    }
  }

  async #prepare(
    client: PipelineClient,
    message: Extract<FromReflector, { type: 'prepare' }>,
  ): Promise<void> {
    const { request, verb, query } = message;
    try {
      const prepared = await client.prepare(verb, query);
      this.#backend?.toReflector({ type: 'prepared', request, ...prepared });
    } catch (error) {
      this.#backend?.toReflector({ type: 'prepared', request, error: toErrorMessage(error) });
    }
  }

  #fromShard(shard: number, message: FromShard | StatsAnswer): void {
    if (message.type === 'stats') this.#answerStats(shardRole(shard), message);
    if (message.type !== 'attached') return;
    const attachment = this.#attachments.get(message.informer);
    if (!attachment) return;
    attachment.unanswered.delete(shard);
    if (message.error) attachment.attached(fromErrorMessage(message.error));
    else if (attachment.unanswered.size === 0) attachment.attached(undefined);
  }

  /** The first failure is the one that counts: a thread that threw also ends. */
  #failed(error: KubeloomError): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const { client, attached, detached } of this.#attachments.values()) {
      attached(error);
      detached?.();
      client.failed(error);
    }
  }

  #freeNumber(): number {
    for (let tries = 0; tries < INFORMERS_MAX; tries++) {
      const informer = this.#nextInformer;
      this.#nextInformer = (this.#nextInformer % INFORMERS_MAX) + 1;
      if (!this.#attachments.has(informer)) return informer;
    }
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `at most ${INFORMERS_MAX} informers can share threads`);
  }
}

function shardRole(shard: number): string {
  return `shard ${shard}`;
}

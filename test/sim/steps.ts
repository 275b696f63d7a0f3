/** Steps of a simulation: chance decides which role runs next, and how far. */
import type { SharedIndexInformer } from '../../src/index.ts';
import { StatusError } from '../../src/tools/apiserver/store/status.ts';
import { crashAfter, cancelCrash } from './crash.ts';
import { cutAnswer, strikeRequest, strikeStream } from './fault-effects.ts';
import type { AttachedThreads } from './attached.ts';
import type { Handlers } from './handlers.ts';
import type { Fixtures } from './fixtures.ts';
import type { Fault, FaultSchedule } from './fault-schedule.ts';

interface Step {
  readonly weight: number;
  readonly take: () => void | Promise<void>;
}

type Role = 'main' | 'reflector' | 'shard' | 'network' | 'server' | 'writer' | 'ports' | 'clock';

const SNAPSHOTS_MAX = 12;
const CALM_CHUNK_BYTES = 16_384;
/** Steps between two scrapes of the metrics; the steps themselves are random. */
const STEPS_PER_SCRAPE = 16;

export class Steps {
  readonly #fixtures: Fixtures;
  readonly #faults: FaultSchedule;
  readonly #handlers: Handlers;
  /** Relative frequency of each role's turns in this seed. */
  readonly #paces: Readonly<Record<Role, number>>;
  #chunkMax: number;
  #blockedUntil = 0;
  #snapshots = 0;
  #steps = 0;
  /** Other threads that have the cache of an informer; none at first. */
  attached: AttachedThreads | undefined;
  /** The first uncaught error. */
  thrown: Error | undefined;

  constructor(fixtures: Fixtures, faults: FaultSchedule, handlers: Handlers) {
    const { chance } = fixtures;
    this.#fixtures = fixtures;
    this.#faults = faults;
    this.#handlers = handlers;
    const pace = (): number => chance.magnitude(0.1, 3);
    this.#paces = {
      main: pace(),
      reflector: pace(),
      shard: pace() * (faults.enabled.has('shards slow') ? 0.02 : 1),
      network: pace() * (faults.enabled.has('network slow') ? 0.05 : 1),
      server: pace(),
      writer: pace(),
      ports: pace(),
      clock: chance.magnitude(0.02, 0.5),
    };
    this.#chunkMax = chance.magnitude(20, 100_000);
  }

  /** Performs a number of steps in which everything may happen. */
  async storm(count: number): Promise<void> {
    for (let done = 0; done < count; done++) {
      const steps = [...this.#pipeline(), ...this.#world()];
      await this.#take(this.#fixtures.chance.weighted(steps));
      this.#scrape();
    }
  }

  /** Ends all faults that are not found by a timeout. */
  heal(): void {
    cancelCrash();
    this.#blockedUntil = 0;
    this.#chunkMax = Math.max(this.#chunkMax, CALM_CHUNK_BYTES);
    this.#fixtures.server.hasStreamingLists = true;
  }

  /**
   * Runs until nothing is left to do and every informer has converged; returns what is missing when that takes too
   * long.
   */
  async calm(stepsMax: number, until: number): Promise<string | undefined> {
    const { chance, clock, informers, server } = this.#fixtures;
    for (let done = 0; done < stepsMax && !this.thrown; done++) {
      const steps = this.#pipeline();
      if (steps.length > 0) {
        await this.#take(chance.weighted(steps));
        this.#scrape();
        continue;
      }
      const version = String(server.log.revision);
      const isCalm = (informer: SharedIndexInformer): boolean =>
        informer.lastSyncResourceVersion() === version &&
        informer.hasSynced() &&
        informer.busyHandlers.length === 0;
      const late = informers.filter((informer) => !isCalm(informer));
      const behind = this.attached?.present.filter((thread) => !thread.isCalm(version)) ?? [];
      if (late.length + behind.length === 0) return undefined;
      for (const stream of server.streams) {
        if (stream.revision < server.log.revision) server.bookmark(stream, server.log.revision);
      }
      if (this.#pipeline().length > 0) continue;
      if (clock.now() > until || !clock.advanceToNext()) return describe(late, behind.length, version);
      await microtasks();
    }
    return this.thrown ? `thrown: ${this.thrown.message}` : `not at rest after ${stepsMax} steps`;
  }

  /** Runs steps until the promise settles; returns false when it does not. */
  async until(promise: Promise<unknown>): Promise<boolean> {
    let isDone = false;
    void promise.then(
      () => (isDone = true),
      () => (isDone = true),
    );
    const { chance, clock } = this.#fixtures;
    for (let done = 0; done < 10_000; done++) {
      await microtasks();
      if (isDone) return true;
      const steps = this.#pipeline();
      if (steps.length > 0) await this.#take(chance.weighted(steps));
      else if (!clock.advanceToNext()) return false;
    }
    return isDone;
  }

  /** Performs a step; an uncaught error would have ended the process. */
  async #take(step: Step | undefined): Promise<void> {
    try {
      await step?.take();
    } catch (error) {
      this.thrown ??= error instanceof Error ? error : new Error(String(error));
    }
    await microtasks();
  }

  #scrape(): void {
    if (++this.#steps % STEPS_PER_SCRAPE === 0) this.#fixtures.recorder.scrape();
  }

  /** Steps of the pipeline. */
  #pipeline(): Step[] {
    const { tasks, backend, arriving, connections, server, chance, clock } = this.#fixtures;
    const paces = this.#paces;
    const steps: Step[] = [];
    const isBlocked = clock.now() < this.#blockedUntil;
    if (tasks.length > 0 && !isBlocked) steps.push({ weight: paces.main, take: () => tasks.next() });
    const { reflector } = backend ?? {};
    if (reflector?.hasBacklog === true) {
      const work = (): void => void reflector.doWork();
      steps.push({ weight: paces.reflector, take: () => backend?.inReflector(work) });
    }
    for (const [index, shard] of (backend?.shards ?? []).entries()) {
      if (shard?.hasWork() !== true) continue;
      steps.push({ weight: paces.shard, take: () => backend?.turnShard(index, chance.integer(1, 64)) });
    }
    for (const queue of this.attached?.queues ?? [])
      steps.push({ weight: paces.main, take: () => queue.next() });
    for (const queue of backend?.queues ?? []) {
      if (queue.length > 0) steps.push({ weight: paces.ports, take: () => queue.next() });
    }
    if (arriving.length > 0) steps.push({ weight: paces.server, take: () => this.#answer() });
    for (const stream of server.behind) {
      if (stream.connection.isOpen) steps.push({ weight: paces.server, take: () => server.pump(stream) });
      else server.streams.delete(stream);
    }
    for (const connection of connections) {
      if (!connection.isOpen) connections.delete(connection);
      if (!connection.isReady || backend?.isReflectorAsleep === true) continue;
      const bytes = Math.ceil(chance.random() * this.#chunkMax);
      steps.push({
        weight: paces.network,
        take: () => backend?.inReflector(() => connection.deliver(bytes)),
      });
    }
    return steps;
  }

  /** Steps outside the pipeline. */
  #world(): Step[] {
    const { writer, clock, chance, server } = this.#fixtures;
    const paces = this.#paces;
    const faults = this.#faults;
    const steps: Step[] = [
      { weight: paces.writer, take: () => writer.write() },
      { weight: paces.clock, take: () => this.#wait() },
      { weight: 0.01, take: () => this.#look() },
      { weight: faults.streamWeight, take: () => this.#strikeStream() },
      { weight: 0.05, take: () => this.#bookmark() },
    ];
    const add = (fault: Fault, weight: number, act: () => void): void => {
      const take = (): void => {
        faults.strike(fault);
        act();
      };
      if (faults.has(fault)) steps.push({ weight, take });
    };
    add('compaction', 0.03, () =>
      server.log.compact(Math.max(1, server.log.revision - chance.integer(0, 30))),
    );
    add('no streaming lists', 0.02, () => (server.hasStreamingLists = chance.happens(0.3)));
    add('bodies change under their versions', 0.02, () => writer.rewrite());
    add('main thread blocked', 0.02, () => {
      this.#blockedUntil = clock.now() + chance.magnitude(10, 60_000);
    });
    for (const fault of ['shard dies', 'reflector dies'] as const) add(fault, 0.01, () => this.#kill(fault));
    if (this.attached?.isEnabled === true) {
      const { attached } = this;
      steps.push(
        { weight: 0.02, take: () => attached.attach() },
        { weight: 0.01, take: () => attached.end() },
        { weight: 0.01, take: () => attached.remove() },
      );
    }
    add('handlers come and go', 0.05, () => {
      if (this.#handlers.count < 6 && chance.happens(0.6)) this.#handlers.add();
      else this.#handlers.remove();
    });
    return steps;
  }

  async #answer(): Promise<void> {
    const { arriving, server, chance } = this.#fixtures;
    const connection = arriving.shift();
    if (!connection?.isOpen) return;
    const fault = this.#faults.request(chance);
    if (fault !== undefined && strikeRequest(fault, connection, server, chance)) {
      this.#faults.strike(fault);
      return;
    }
    if (this.#faults.has('tokens expire') && connection.query.has('continue') && chance.happens(0.5)) {
      this.#faults.strike('tokens expire');
      server.log.compact(server.log.revision);
    }
    try {
      await server.answer(connection);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      server.refuse(connection, error);
      return;
    }
    if (fault === 'list cut') {
      this.#faults.strike(fault);
      cutAnswer(connection, chance);
      for (const stream of server.streams)
        if (stream.connection === connection) server.streams.delete(stream);
    }
  }

  #strikeStream(): void {
    const { server, chance } = this.#fixtures;
    const streams = [...server.streams];
    const stream = streams[chance.integer(0, Math.max(0, streams.length - 1))];
    const fault = this.#faults.stream(chance);
    if (stream && fault) strikeStream(fault, stream, server, chance, this.#faults);
  }

  /** Kills a role between two of its turns, or within its next one. */
  #kill(fault: 'shard dies' | 'reflector dies'): void {
    const { backend, chance } = this.#fixtures;
    if (!backend) return;
    if (chance.happens(0.5)) {
      crashAfter(chance.integer(0, 20));
      return;
    }
    const role = fault === 'reflector dies' ? 'reflector' : chance.integer(0, backend.shards.length - 1);
    backend.kill(role, new Error('killed'));
  }

  #bookmark(): void {
    const { server } = this.#fixtures;
    for (const stream of server.streams) {
      if (stream.position === server.collection.history.end) server.bookmark(stream, server.log.revision);
    }
  }

  #wait(): void {
    const { clock, chance } = this.#fixtures;
    const isIdle = this.#pipeline().length === 0;
    // Backoffs and timeouts are long; skip them soon when nothing else happens.
    if (isIdle && chance.happens(0.5)) clock.advanceToNext();
    else clock.advance(isIdle || chance.happens(0.02) ? chance.magnitude(1, 10_000) : chance.random());
  }

  #look(): void {
    if (++this.#snapshots > SNAPSHOTS_MAX) return;
    const { informers, recorder } = this.#fixtures;
    for (const thread of this.attached?.present ?? []) thread.snapshot();
    for (const informer of informers) recorder.snapshot(informer);
  }
}

function describe(late: readonly SharedIndexInformer[], behind: number, version: string): string {
  const each = late.map((informer) => {
    const busy = informer.busyHandlers.length > 0 ? `, with ${informer.busyHandlers.join(', ')} busy` : '';
    return `${informer.name} is ${informer.phase} at ${informer.lastSyncResourceVersion()}${busy}`;
  });
  const threads = behind > 0 ? `, and ${behind} attached threads` : '';
  return `not converged to ${version}: ${each.join('; ')}${threads}`;
}

/** Resolves after all settled promises and those that they settle, without a turn of the real event loop. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * Apiserver, network and the whole pipeline of a case in this thread, with virtual time. Chance decides the order in
 * which they work; time passes when all of them are at rest.
 */
import { InformerThreads } from '../../../src/index.ts';
import type { ThreadsOptions } from '../../../src/index.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServerOptions } from '../../../src/tools/apiserver/testing/index.ts';
import { ApiServer } from '../../../src/tools/apiserver/run/api-server.ts';
import { EmbeddedApiServer } from '../../../src/tools/apiserver/run/embedded-server.ts';
import { invoke } from '../../../src/tools/apiserver/run/remote.ts';
import type { RemoteCall } from '../../../src/tools/apiserver/run/remote.ts';
import { SimulatedBackend } from '../backend.ts';
import { Chance } from '../chance.ts';
import { randomMemory } from '../memory.ts';
import { Tasks } from '../tasks.ts';
import { Network } from './network.ts';

interface Step {
  readonly weight: number;
  readonly take: () => void;
}

/** Work of Node that is no work of this world's queues: callbacks of streams, and files. */
const NODE_WORK = /^(Immediate|FS.*|FileHandle.*)$/;
const RECORDS_MAX = 64;
/** Steps between two questions of a case. */
const STEPS_MAX = 16;

export class World {
  readonly clock: FakeClock = new FakeClock(0);
  readonly network: Network;
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  /** Whether the shards do not work. */
  areShardsHeld = false;
  readonly #chance: Chance;
  readonly #tasks: Tasks = new Tasks();
  readonly #paces: Readonly<Record<'main' | 'reflector' | 'shard' | 'ports' | 'network', number>>;
  #backend: SimulatedBackend | undefined;
  /** Whether the reflector has found no room since another part took a record. */
  #isFull = false;

  constructor(seed: number, server: EmbeddedApiServerOptions = {}, threads?: ThreadsOptions) {
    const { clock } = this;
    const chance = new Chance(seed);
    this.#chance = chance;
    const pace = (): number => chance.magnitude(0.1, 3);
    this.#paces = { main: pace(), reflector: pace(), shard: pace(), ports: pace(), network: pace() };
    const token = server.token ?? 'simulated';
    const api = new ApiServer({ ...server, tls: false, token }, clock);
    const call = ((method, ...args) => invoke(api, method, args)) as RemoteCall;
    const close = (): Promise<void> => api.control.close();
    this.server = new EmbeddedApiServer(
      { url: 'http://localhost', token, adminToken: '', ca: '' },
      call,
      close,
    );
    this.network = new Network(clock, chance, (connection) => api.accept(connection));
    const { logBytes, ringBytes } = threads ?? {};
    const memory =
      logBytes === undefined ? randomMemory(chance) : allocatePipeline(2, logBytes, ringBytes ?? 2 ** 16);
    const transport = { clock, connect: this.network.connect };
    this.threads = new InformerThreads(
      { ...threads, indexerThreads: 0 },
      {
        memory,
        clock,
        timers: this.#tasks.timersOn(clock),
        backend: (_memory, events, requestRun) =>
          (this.#backend = new SimulatedBackend({
            memory,
            events,
            requestRun,
            clock,
            random: chance.random,
            readWindowMs: 0,
            transport: (connection) => new Http1Transport(connection, transport),
            applied: () => undefined,
            incarnation: 0,
          })),
      },
    );
  }

  /** Runs some steps. @returns false when all is at rest */
  async work(): Promise<boolean> {
    for (let count = this.#chance.integer(1, STEPS_MAX); count > 0; count--)
      if (!(await this.#step())) return false;
    return true;
  }

  /** Lets the time pass up to the next timer. @returns false when the end comes first */
  advance(endMs: number): boolean {
    const { clock } = this;
    if (clock.now() + (clock.nextDelayMs ?? Number.POSITIVE_INFINITY) <= endMs) return clock.advanceToNext();
    clock.advance(endMs - clock.now());
    return false;
  }

  /** @returns false when nothing is left to do at this time */
  async #step(): Promise<boolean> {
    const step = this.#chance.weighted(this.#steps());
    step?.take();
    await new Promise(setImmediate);
    return step !== undefined || process.getActiveResourcesInfo().some((name) => NODE_WORK.test(name));
  }

  /** Performs work that may make room for the reflector. */
  #free(work: () => void): void {
    this.#isFull = false;
    work();
  }

  #steps(): Step[] {
    const paces = this.#paces;
    const steps: Step[] = [];
    const add = (weight: number, take: () => void): void => void steps.push({ weight, take });
    if (this.#tasks.length > 0) add(paces.main, () => this.#free(() => this.#tasks.next()));
    const backend = this.#backend;
    if (!backend) return steps;
    const { reflector } = backend;
    if (reflector?.hasBacklog === true && !this.#isFull)
      add(paces.reflector, () => void (this.#isFull = reflector.doWork() === 0));
    for (const [index, shard] of backend.shards.entries()) {
      if (this.areShardsHeld || shard?.hasWork() !== true) continue;
      const records = this.#chance.integer(1, RECORDS_MAX);
      add(paces.shard, () => this.#free(() => backend.turnShard(index, records)));
    }
    for (const queue of backend.queues) if (queue.length > 0) add(paces.ports, () => queue.next());
    for (const link of this.network.ready) add(paces.network, () => link.deliver());
    return steps;
  }
}

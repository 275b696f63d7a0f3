/** Members of a partitioned manager's group on one embedded apiserver, with a clock that only the test moves. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { FakeClock, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { ApiServerOptions, EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { ObjectClient } from '../../../src/controller/index.ts';
import { PartitionedManager } from '../../../src/partitions/index.ts';
import type { PartitionedManagerOptions } from '../../../src/partitions/index.ts';
import { InformerThreads, resources, partitionRanges } from '../../../src/index.ts';
import type { KubeloomError } from '../../../src/index.ts';
import { ShardFilter } from '../../../src/kube/shard-filter.ts';

export const PARTITIONS = 4;
/** A test takes a few thousand turns of the event loop. */
const TURNS_MAX = 2_000_000;
export const { pods } = resources.core.v1;
export { turn };

export class Member {
  readonly manager: PartitionedManager;
  readonly run: Promise<void>;
  readonly #stop = new AbortController();

  constructor(manager: PartitionedManager) {
    this.manager = manager;
    this.run = manager.run({ signal: this.#stop.signal });
  }

  get partitionCount(): number {
    return this.manager.owned.length;
  }

  /** Hands all partitions over. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.run;
  }
}

export class GroupScene implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly server: EmbeddedApiServer;
  readonly client: ObjectClient;
  readonly threads: InformerThreads = new InformerThreads({ indexerThreads: 0 });
  readonly errors: KubeloomError[] = [];
  readonly #members: Member[] = [];
  #changes = 0;

  private constructor(server: EmbeddedApiServer) {
    this.server = server;
    this.client = new ObjectClient(server.connection);
  }

  static async start(sharding: NonNullable<ApiServerOptions['sharding']>): Promise<GroupScene> {
    return new GroupScene(await startEmbeddedApiServer({ isolation: 'none', tls: false, sharding }));
  }

  options(
    identity: string,
    options: Pick<PartitionedManagerOptions, 'declare'> & Partial<PartitionedManagerOptions>,
  ): PartitionedManagerOptions {
    return {
      name: 'web',
      namespace: 'default',
      identity,
      partitions: PARTITIONS,
      key: 'uid',
      clock: this.clock,
      onError: (error) => this.errors.push(error),
      ...options,
      cache: { threads: this.threads, backoff: { initialMs: 1, maxMs: 5 }, ...options.cache },
    };
  }

  join(...of: Parameters<GroupScene['options']>): Member {
    const member = new Member(new PartitionedManager(this.server.connection, this.options(...of)));
    this.#members.push(member);
    return member;
  }

  /** Waits for the condition. The clock moves only over the times in which a member waits for others, and common caches for other partitions. */
  async until(condition: () => boolean): Promise<void> {
    const limit = this.#limit();
    while (!condition()) {
      limit();
      await turn();
      const { nextDelayMs } = this.clock;
      if (nextDelayMs !== undefined && nextDelayMs <= 250) this.clock.advance(nextDelayMs);
    }
  }

  /** Waits for the end of a run with this error, while time passes. */
  async refuses(
    run: Promise<void>,
    error: Error | { readonly code: string; readonly message?: RegExp },
  ): Promise<void> {
    let isOver = false;
    const rejected = assert.rejects(run, error).finally(() => (isOver = true));
    await this.pass(() => isOver);
    await rejected;
  }

  /** Waits for the condition while time passes. */
  async pass(condition: () => boolean): Promise<void> {
    const limit = this.#limit();
    while (!condition()) {
      limit();
      for (let turns = 0; turns < 5; turns++) await turn();
      this.clock.advance(100);
    }
  }

  /** Returns the function that fails after far more turns of the event loop than any test takes. */
  #limit(): () => void {
    let turns = 0;
    return () => {
      if (++turns < TURNS_MAX) return;
      const owned = this.#members.map(({ manager }) => `${manager.identity}: ${manager.owned.join()}`);
      assert.fail(
        `the condition does not come; owned: ${owned.join('; ')}; errors: ${this.errors.join('; ')}`,
      );
    };
  }

  /** Creates a pod of a partition. */
  async createPod(name: string, partition: number): Promise<void> {
    const object = { metadata: { name, namespace: 'default', uid: uidOf(partition) } };
    await this.server.apply([{ type: 'create', resource: 'pods', object }]);
  }

  async changePod(name: string): Promise<void> {
    const key = { namespace: 'default', name };
    await this.client.patch(pods, key, { metadata: { annotations: { change: String(this.#changes++) } } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const leaving = Promise.allSettled(this.#members.map((member) => member.leave()));
    let hasLeft = false;
    void leaving.then(() => (hasLeft = true));
    await this.pass(() => hasLeft);
    await this.threads.close();
    await this.server.close();
  }
}

let uids = 0;

/** Returns a new uid whose hash is in the partition. */
export function uidOf(partition: number): string {
  const filter = new ShardFilter(partitionRanges([partition], PARTITIONS));
  for (;;) {
    const uid = `${(uids++ * 7919) % 100_003}-0000-4000`;
    if (filter.matchesText(uid)) return uid;
  }
}

/** Reflector thread and sockets against the embedded apiserver, over real sockets with TLS, in this process. */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { realClock } from '../../../src/base/clock.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { allocateActivity } from '../../../src/shared/activity.ts';
import { BLOCK_BYTES } from '../../../src/shared/log/log-layout.ts';
import { ReflectorThread } from '../../../src/reflector/reflector-thread.ts';
import type { FromReflector, ReflectorSpec, ToReflector } from '../../../src/shared/protocol.ts';
import { Http1Transport } from '../../../src/http/http1-transport.ts';
import { HistoryCheck } from './history-check.ts';
import { Replica } from './replica.ts';
import { SPEC } from './scripts.ts';
import { Twin } from './twin.ts';
import type { Seen, TwinOptions } from './twin.ts';
import { HANG_MS } from '../../kit/hang.ts';

/** A list in six pages; few objects fit into rings and log at a time. */
const PODS = 300;
const SMALL: TwinOptions = {
  shards: 2,
  ringBytes: 4096,
  logBytes: BLOCK_BYTES,
  lastSequence: 2 ** 32 - 100,
};

class Live implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly twin: Twin = new Twin(SMALL);
  readonly replica: Replica = new Replica();
  readonly records: Seen[] = [];
  readonly messages: FromReflector[] = [];
  readonly thread: ReflectorThread;
  #listener: (message: ToReflector) => void = () => undefined;

  constructor(server: EmbeddedApiServer) {
    this.server = server;
    const connection = {
      server: server.url,
      ca: server.ca,
      headers: { authorization: `Bearer ${server.token}` },
    };
    this.thread = new ReflectorThread({
      router: this.twin.router,
      port: {
        post: (message) => {
          this.messages.push(message);
          if (message.type !== 'prepare') return;
          setImmediate(() => this.tell({ type: 'prepared', request: message.request, connection }));
        },
        onMessage: (listener) => (this.#listener = listener),
      },
      clock: realClock,
      random: Math.random,
      transportFor: (options) => new Http1Transport(options),
    });
  }

  tell(message: ToReflector): void {
    this.#listener(message);
  }

  start(spec: Partial<ReflectorSpec>): void {
    const backoff = { backoffInitialMs: 5, backoffMaxMs: 50 };
    const counters = allocateActivity();
    this.tell({ type: 'start', informer: 1, spec: { ...SPEC, pageSize: 50, ...backoff, ...spec }, counters });
  }

  /** Runs shards and main thread until the condition holds. */
  async until(isDone: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(HANG_MS);
    for (;;) {
      for (const record of this.twin.drain()) {
        this.records.push(record);
        this.replica.apply(record);
      }
      const work = this.thread.doWork();
      if (work === 0 && isDone()) return;
      assert.ok(!signal.aborted, `gave up; errors: ${this.errors().join(' ')}`);
      await nextTurn();
    }
  }

  /** Waits until the replica equals the server's state. */
  async converge(): Promise<void> {
    const state = await this.server.state('pods');
    const expected = [...state].map(([key, version]) => `${key.split('/')[1]}@${version}`).sort();
    const size = expected.length;
    const last = String(await this.server.revision());
    // Comparing everything after every record would take most of the time.
    await this.until(
      () =>
        this.replica.size() === size && this.records.some(({ resourceVersion }) => resourceVersion === last),
    );
    assert.deepEqual(this.replica.objects(), expected);
  }

  async change(count: number, objectBytes: number): Promise<void> {
    const mix = { update: 6, create: 2, delete: 2 };
    await this.server.load({ rate: 'max', durationMs: HANG_MS, eventsMax: count, mix, objectBytes });
  }

  async assertHistory(): Promise<void> {
    const journal = [...(await this.server.log('pods'))];
    let index = 0;
    const check = new HistoryCheck((version) => {
      while ((journal[index]?.[0] ?? Infinity) <= version) index++;
      const entry = journal[index];
      return entry && { resourceVersion: entry[0], type: entry[1], name: entry[2].split('/')[1] ?? '' };
    });
    for (const record of this.records) check.apply(record);
  }

  errors(): string[] {
    const codes: string[] = [];
    for (const message of this.messages) if (message.type === 'error') codes.push(message.error.code);
    return codes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.tell({ type: 'shutdown' });
    await this.until(() => this.messages.at(-1)?.type === 'closed');
  }
}

for (const watchList of ['off', 'auto'] as const) {
  test(`objects much larger than rings and log arrive in the server's order, and the replica equals the server (watchList ${watchList})`, async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    await server.populate({ count: PODS, namespaces: 1 });
    await using live = new Live(server);
    live.start({ watchList });
    await live.converge();
    const writing = live.change(2000, 10_000);
    await live.until(() => live.records.length > PODS + 500);
    await writing;
    await live.server.dropWatches({ how: 'resetMidLine' });
    await live.change(200, 10_000);
    await live.converge();
    await live.assertHistory();
  });
}

/**
 * A reflector thread in this process: fake sockets, a fake clock, real rings and log, and a main thread that
 * answers every `prepare` at once.
 */
import assert from 'node:assert/strict';
import { allocateActivity } from '../../../src/shared/activity.ts';
import type { Activity } from '../../../src/shared/activity.ts';
import { CounterReader } from '../../../src/shared/counters.ts';
import type { ReflectorLoop } from '../../../src/reflector/loop-turns.ts';
import { ReflectorThread } from '../../../src/reflector/reflector-thread.ts';
import type { ControlPort, FromReflector, ReflectorSpec, ToReflector } from '../../../src/shared/protocol.ts';
import type { ConnectionOptions } from '../../../src/kube/connection-options.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeTransport } from './fake-transport.ts';
import type { FakeExchange } from './fake-transport.ts';
import { Replica } from './replica.ts';
import { SPEC } from './scripts.ts';
import { Twin } from './twin.ts';
import type { Seen, TwinOptions } from './twin.ts';

export interface HarnessOptions extends TwinOptions {
  /** An event loop of the reflector alone. */
  readonly loop?: ReflectorLoop;
  /** Uniform in [0, 1); 0 by default: no jitter, and the shortest watches. */
  readonly random?: () => number;
  readonly onMessage?: (message: FromReflector) => void;
  /** Replaces the answer to `prepare`. */
  readonly prepare?: (message: Prepare) => ToReflector | undefined;
}

type Prepare = Extract<FromReflector, { type: 'prepare' }>;

export const CONNECTION: ConnectionOptions = {
  server: 'https://server',
  headers: { authorization: 'token' },
};

export class Harness {
  readonly clock: FakeClock = new FakeClock();
  readonly twin: Twin;
  readonly thread: ReflectorThread;
  readonly transports: FakeTransport[] = [];
  readonly messages: FromReflector[] = [];
  /** Every record so far, of all informers, and the state that they produce. */
  readonly records: Seen[] = [];
  readonly replica: Replica = new Replica();
  backlogs = 0;
  readonly #counters: Map<number, SharedArrayBuffer> = new Map();
  #listener: (message: ToReflector) => void = () => undefined;

  constructor(options: HarnessOptions = {}) {
    this.twin = new Twin({ clock: this.clock, ...options });
    const port: ControlPort<ToReflector, FromReflector> = {
      post: (message) => {
        this.messages.push(message);
        options.onMessage?.(message);
        if (message.type !== 'prepare') return;
        const answer = options.prepare
          ? options.prepare(message)
          : ({ type: 'prepared', request: message.request, connection: CONNECTION } as const);
        if (answer) this.tell(answer);
      },
      onMessage: (listener) => (this.#listener = listener),
    };
    this.thread = new ReflectorThread({
      router: this.twin.router,
      port,
      clock: this.clock,
      random: options.random ?? ((): number => 0),
      transportFor: ({ server }) => {
        assert.ok(URL.canParse(server), 'invalid URL');
        const transport = new FakeTransport();
        this.transports.push(transport);
        return transport;
      },
      onBacklog: () => this.backlogs++,
      loop: options.loop,
    });
  }

  tell(message: ToReflector): void {
    this.#listener(message);
  }

  start(spec: Partial<ReflectorSpec> = {}, informer = 1): this {
    const counters = allocateActivity();
    this.#counters.set(informer, counters);
    this.tell({ type: 'start', informer, spec: { ...SPEC, ...spec }, counters });
    return this;
  }

  /** Returns the published counters of the informer. */
  counts(informer = 1): Float64Array {
    const counters = this.#counters.get(informer);
    assert.ok(counters, 'the informer was started');
    return new CounterReader(counters).read();
  }

  /** Activity so far, without requests. */
  get activity(): Activity[] {
    const activity: Activity[] = [];
    for (const message of this.messages)
      if (message.type === 'activity' && message.activity.kind !== 'request') activity.push(message.activity);
    return activity;
  }

  /** All requests so far, in order. */
  get exchanges(): FakeExchange[] {
    return this.transports.flatMap((transport) => transport.exchanges);
  }

  /** The latest request. */
  get exchange(): FakeExchange {
    const last = this.exchanges.at(-1);
    assert.ok(last, 'something was requested');
    return last;
  }

  /** Runs shards and main thread until nothing moves. */
  drain(): void {
    do {
      this.read();
      this.twin.pass();
    } while (this.thread.doWork() > 0);
  }

  /** Runs shards that read up to `recordsMax` records each, and a main thread that merges them. */
  read(recordsMax: number = Infinity): void {
    for (const record of this.twin.read(recordsMax)) {
      this.records.push(record);
      this.replica.apply(record);
    }
  }

  /** Returns the records since the last call, in one short line each. */
  take(): string[] {
    this.drain();
    return this.records.splice(0).map((record) => describeRecord(record));
  }

  errors(): string[] {
    const codes: string[] = [];
    for (const message of this.messages) if (message.type === 'error') codes.push(message.error.code);
    return codes;
  }

  phases(): string[] {
    const phases: string[] = [];
    for (const message of this.messages) if (message.type === 'phase') phases.push(message.phase);
    return phases;
  }

  /** Answers the list in progress with these items. */
  list(resourceVersion: string, ...items: object[]): void {
    this.exchange.head().send(list(resourceVersion, items)).end();
  }

  /** Answers the first list with these pods and opens the watch after it. */
  sync(resourceVersion: string, ...names: string[]): this {
    this.list(resourceVersion, ...names.map((name) => pod(name, resourceVersion)));
    this.drain();
    assert.equal(this.exchange.isWatch, true);
    this.exchange.head();
    return this;
  }
}

function describeRecord(record: Seen): string {
  if (record.name !== '') return `${record.kind} ${record.name}@${record.resourceVersion}`;
  return `${record.kind} ${record.epoch}${record.resourceVersion === '' ? '' : `@${record.resourceVersion}`}`;
}

export interface Pod {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
  readonly spec: string;
}

/** Returns a pod as a list contains it: without kind and apiVersion. */
export function pod(name: string, resourceVersion: string, padding = 0): Pod {
  return { metadata: { name, namespace: 'default', resourceVersion }, spec: 'x'.repeat(padding) };
}

export function list(resourceVersion: string, items: readonly object[], continueToken?: string): string {
  const metadata = { resourceVersion, ...(continueToken === undefined ? {} : { continue: continueToken }) };
  return JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items });
}

export function event(type: string, name: string, resourceVersion: string, padding = 0): object {
  return { type, object: { kind: 'Pod', apiVersion: 'v1', ...pod(name, resourceVersion, padding) } };
}

export function bookmark(resourceVersion: string, annotations?: Record<string, string>): object {
  const metadata = { resourceVersion, creationTimestamp: null, ...(annotations ? { annotations } : {}) };
  return { type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata, spec: {} } };
}

export const END: Record<string, string> = { 'k8s.io/initial-events-end': 'true' };

export function errorEvent(code: number, reason: string, details: object = {}): object {
  return { type: 'ERROR', object: { kind: 'Status', code, reason, message: `${reason}!`, details } };
}

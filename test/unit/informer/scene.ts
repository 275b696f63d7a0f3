/** A shared informer on a fake controller source, with all its threads in this one, and handlers that write down. */
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import type {
  Borrowed,
  DeletedFinalStateUnknown,
  HandlerRegistration,
  InformerOptions,
  ThreadsOptions,
  ResourceEventHandler,
} from '../../../src/index.ts';
import { PODS } from '../../kit/objects.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../../kit/hang.ts';

export { PODS };

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly resourceVersion?: string;
  };
  readonly spec?: unknown;
}

export function pod(name: string, labels: Readonly<Record<string, string>> = {}): Pod {
  return { metadata: { name, namespace: 'ns', labels } };
}

/** The changes of 100 padded pods are more than a handler may leave pending. */
export const SMALL_BACKLOGS: ThreadsOptions = { backlogBytesMax: 2 ** 16 };

export function paddedPods(count: number): Pod[] {
  const spec = { padding: 'x'.repeat(2000) };
  return Array.from({ length: count }, (_, index) => ({ ...pod(`pod-${index}`), spec }));
}

export interface Reported {
  readonly code: string;
  readonly message: string;
  readonly handler: string | undefined;
  readonly registeredAt: string | undefined;
}

export class Scene implements AsyncDisposable {
  readonly source: FakeControllerSource<Pod> = new FakeControllerSource<Pod>();
  readonly clock: FakeClock = new FakeClock();
  readonly threads: InformerThreads;
  readonly reported: Reported[] = [];
  readonly #informers: SharedIndexInformer<Pod>[] = [];
  readonly #gates: Gate[] = [];
  /** A source without sockets keeps no process alive, and neither do promises. */
  readonly #alive: NodeJS.Timeout = setInterval(() => undefined, 60_000);
  #relists = 0;

  /** With limits the threads have the scene's clock. Without, a list that failed is repeated by itself. */
  constructor(limits?: ThreadsOptions) {
    this.threads = new InformerThreads({ indexerThreads: 0, ...limits }, limits && { clock: this.clock });
  }

  informer(options: InformerOptions<Pod> = {}): SharedIndexInformer<Pod> {
    const informer = new SharedIndexInformer<Pod>(this.source, PODS, this.options(options));
    this.#informers.push(informer);
    return informer;
  }

  /** A gate that opens with the scene's end. */
  gate(): Gate {
    const gate = new Gate();
    this.#gates.push(gate);
    return gate;
  }

  options(options: InformerOptions<Pod> = {}): InformerOptions<Pod> {
    return {
      threads: this.threads,
      clock: this.clock,
      backoff: { initialMs: 1, maxMs: 1 },
      onError: ({ code, message }, { handler, registeredAt }) => {
        this.reported.push({ code, message, handler, registeredAt });
      },
      ...options,
    };
  }

  get codes(): string[] {
    return this.reported.map(({ code }) => code);
  }

  /** Runs it and waits until it has synced and its handlers are at rest. */
  async started(informer: SharedIndexInformer<Pod>): Promise<void> {
    void informer.run();
    await settled(informer);
  }

  /** Time passes until it is so. */
  async passed(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      this.clock.advance(500);
      await turns(1);
    }
  }

  /** The informer loses its watch and lists again: what was there is unchanged, and `relist-N` is new. */
  async relisted(informer: SharedIndexInformer<Pod>): Promise<void> {
    this.source.addDropWatch(pod(`relist-${++this.#relists}`));
    this.source.resetWatch();
    await settled(informer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#alive);
    for (const gate of this.#gates) gate.open();
    // A test that failed may have left calls open: that must not hide why.
    const signal = AbortSignal.timeout(HANG_MS);
    try {
      for (const informer of this.#informers) await informer.shutdown({ signal });
    } finally {
      await this.threads.close();
    }
  }
}

/** Action in a call, after the call was recorded. */
export type Reaction = (line: string) => unknown;

/** `add! a` (in the initial list), `add a`, `update a`, `sync a` (without a change), `delete a`, `lost a`. */
export class Lines implements ResourceEventHandler<Pod> {
  readonly lines: string[] = [];
  readonly #react: Reaction;
  readonly #waiters: Set<() => void> = new Set();

  constructor(react: Reaction = () => undefined) {
    this.#react = react;
  }

  onAdd(added: Borrowed<Pod>, isInInitialList: boolean): unknown {
    return this.#told(`add${isInInitialList ? '!' : ''} ${added.name}`);
  }

  onUpdate(previous: Borrowed<Pod>, current: Borrowed<Pod>): unknown {
    return this.#told(`${previous === current ? 'sync' : 'update'} ${current.name}`);
  }

  onDelete(deleted: Borrowed<Pod> | DeletedFinalStateUnknown<Pod>): unknown {
    return this.#told(`${deleted.finalStateUnknown ? 'lost' : 'delete'} ${deleted.name}`);
  }

  take(): string[] {
    return this.lines.splice(0);
  }

  /** Resolves in the call that writes this line. */
  async until(line: string): Promise<void> {
    if (this.lines.includes(line)) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!this.lines.includes(line)) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }

  #told(line: string): unknown {
    this.lines.push(line);
    for (const look of this.#waiters) look();
    return this.#react(line);
  }
}

/** A promise that handlers wait for. It opens with its scope, so that a test that fails does not wait for them. */
export class Gate implements Disposable {
  readonly opened: Promise<void>;
  open!: () => void;

  constructor() {
    this.opened = new Promise((resolve) => (this.open = resolve));
  }

  [Symbol.dispose](): void {
    this.open();
  }
}

/** A handler whose calls for additions wait until the test opens its gate, or ends. */
export class HeldHandler implements Disposable {
  /** `add a`, `delete a`, `gone a`. */
  readonly lines: string[] = [];
  /** Resolves in the first call. */
  readonly begun: Promise<void>;
  readonly gate: Gate = new Gate();
  #begin!: () => void;

  constructor() {
    this.begun = new Promise((resolve) => (this.#begin = resolve));
  }

  onAdd({ name }: { readonly name: string }): Promise<void> {
    this.lines.push(`add ${name}`);
    this.#begin();
    return this.gate.opened;
  }

  [Symbol.dispose](): void {
    this.gate.open();
  }

  onDelete({
    name,
    finalStateUnknown,
  }: {
    readonly name: string;
    readonly finalStateUnknown: unknown;
  }): void {
    this.lines.push(`${finalStateUnknown ? 'gone' : 'delete'} ${name}`);
  }
}

/** An informer that runs, with a handler in its call for `a` and with `b` pending. */
export interface Busy {
  readonly informer: SharedIndexInformer<Pod>;
  readonly registration: HandlerRegistration;
  readonly lines: Lines;
  readonly gate: Gate;
  readonly run: Promise<void>;
}

export async function busy(scene: Scene, signal?: AbortSignal): Promise<Busy> {
  const informer = scene.informer();
  const gate = scene.gate();
  const lines = new Lines(() => gate.opened);
  const registration = informer.addEventHandler(lines, { name: 'slow one' });
  for (const name of ['a', 'b']) scene.source.add(pod(name));
  const run = informer.run(signal && { signal });
  await lines.until('add! a');
  return { informer, registration, lines, gate, run };
}

/** Until the promise reactions and the pipeline's turns that are due have run, a few times over. */
export async function turns(count: number = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** `pending` until the promise settles; then `resolved` or the message of its error. */
export function outcome(promise: Promise<unknown>): { state: string } {
  const watched = { state: 'pending' };
  promise.then(
    () => (watched.state = 'resolved'),
    (error: Error) => (watched.state = error.message),
  );
  return watched;
}

export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const watched = outcome(promise);
  await turns();
  return watched.state === 'pending';
}

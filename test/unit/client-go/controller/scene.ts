/**
 * The scenes of the controller tests: a reflector, a plain informer or a controller over a scripted ListerWatcher, on a
 * fake clock, with stores and handlers that record.
 */
import { newController } from '../../../../src/client-go/controller/controller.ts';
import type { Controller, ControllerConfig } from '../../../../src/client-go/controller/controller.ts';
import type { ExpectedType } from '../../../../src/client-go/controller/expected-type.ts';
import { newInformerWithOptions } from '../../../../src/client-go/controller/informer.ts';
import type { PlainInformer, PlainInformerOptions } from '../../../../src/client-go/controller/informer.ts';
import type { ObjectEventHandler } from '../../../../src/client-go/controller/process-deltas.ts';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import type { ReflectorOptions } from '../../../../src/client-go/controller/reflector.ts';
import type { MaybeTombstone } from '../../../../src/client-go/queue/delta.ts';
import type { ReflectorStore } from '../../../../src/kube/store.ts';
import type { KubeList, WatchEvent } from '../../../../src/kube/lister-watcher.ts';
import { isTombstone } from '../../../../src/kube/tombstone.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { ScriptedListerWatcher } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

/** Waits until all work that is ready has been done. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Runs a reflector or controller. @returns a function that stops it and waits for its end */
export async function started(subject: {
  run(options: { readonly signal: AbortSignal }): Promise<void>;
}): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const running = subject.run({ signal: controller.signal });
  await settle();
  return async () => {
    controller.abort();
    await running;
  };
}

export function nameOf({ metadata }: Pod): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}

export class RecordingStore implements ReflectorStore<Pod> {
  readonly pods: Map<string, Pod> = new Map();
  readonly log: string[] = [];
  /** Called for every write; it may throw, to let the write fail. */
  onWrite: (write: string) => void = () => undefined;

  add(item: Pod): void {
    this.#write(`add ${nameOf(item)}`);
    this.pods.set(item.metadata.name, item);
  }

  update(item: Pod): void {
    this.#write(`update ${nameOf(item)}`);
    this.pods.set(item.metadata.name, item);
  }

  delete(item: Pod): void {
    this.#write(`delete ${item.metadata.name}`);
    this.pods.delete(item.metadata.name);
  }

  replace(items: readonly Pod[], resourceVersion: string): void {
    this.#write(`replace [${items.map(nameOf).join(' ')}] at ${resourceVersion}`);
    this.pods.clear();
    for (const item of items) this.pods.set(item.metadata.name, item);
  }

  resync(): void {
    this.#write('resync');
  }

  bookmark(resourceVersion: string): void {
    this.#write(`bookmark ${resourceVersion}`);
  }

  /** Returns the pods with their versions, in order of their names. */
  contents(): string[] {
    return [...this.pods.values()].map(nameOf).toSorted();
  }

  take(): string[] {
    return this.log.splice(0);
  }

  #write(write: string): void {
    this.log.push(write);
    this.onWrite(write);
  }
}

/** Records each call in one short line. */
export class RecordingHandler implements ObjectEventHandler<Pod> {
  readonly calls: string[] = [];
  /** Called after a call was recorded; it may throw, to let the call fail. */
  onCall: (call: string) => unknown = () => undefined;

  onAdd(object: Pod, isInInitialList: boolean): unknown {
    return this.#called(`add ${nameOf(object)}${isInInitialList ? ' initial' : ''}`);
  }

  onUpdate(oldObject: Pod, newObject: Pod): unknown {
    return this.#called(`update ${nameOf(oldObject)} ${nameOf(newObject)}`);
  }

  onDelete(object: MaybeTombstone<Pod>): unknown {
    if (!isTombstone(object)) return this.#called(`delete ${nameOf(object)}`);
    return this.#called(`missing ${object.key} ${object.object ? nameOf(object.object) : '?'}`);
  }

  take(): string[] {
    return this.calls.splice(0);
  }

  #called(call: string): unknown {
    this.calls.push(call);
    return this.onCall(call);
  }
}

abstract class Scene implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly source: ScriptedListerWatcher = new ScriptedListerWatcher();
  readonly errors: string[] = [];
  /** Result of the run: `returned`, or the error's code. */
  ending: string | undefined;
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Stops the subject, and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
    await settle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async advance(byMs: number): Promise<void> {
    this.clock.advance(byMs);
    await settle();
  }

  /** Advances to the next timer while the condition holds. @returns the delays */
  async delaysWhile(condition: () => boolean): Promise<number[]> {
    const delays: number[] = [];
    while (condition()) {
      delays.push(this.clock.nextDelayMs ?? NaN);
      await this.advance(this.clock.nextDelayMs ?? 0);
    }
    return delays;
  }

  /** Sends events of the latest watch, and waits until they are processed. */
  async send(...events: readonly WatchEvent<Pod>[]): Promise<void> {
    this.source.watching.send(...events);
    await settle();
  }

  protected get options(): ReflectorOptions {
    return {
      clock: this.clock,
      random: () => 0,
      watchErrorHandler: (error, during) => this.errors.push(`${during} ${error.code}`),
    };
  }

  protected async begin(lists: readonly KubeList<Pod>[], run: () => Promise<void>): Promise<this> {
    this.source.listAnswers.push(...lists);
    this.ending = undefined;
    this.#ended = run().then(
      () => void (this.ending = 'returned'),
      (error: unknown) =>
        void (this.ending = error instanceof Error && 'code' in error ? String(error.code) : String(error)),
    );
    await settle();
    return this;
  }
}

/** A reflector that fills a store. */
export class ReflectorScene extends Scene {
  readonly store: RecordingStore = new RecordingStore();
  readonly reflector: Reflector<Pod>;

  constructor(
    options: ReflectorOptions & { readonly expectedType?: ExpectedType; readonly isStreaming?: boolean } = {},
  ) {
    super();
    const { expectedType, isStreaming = false, ...others } = options;
    this.source.isWatchListUnsupported = !isStreaming;
    this.reflector = new Reflector(this.source, expectedType, this.store, { ...this.options, ...others });
  }

  run(...lists: readonly KubeList<Pod>[]): Promise<this> {
    return this.begin(lists, () => this.reflector.run({ signal: this.signal }));
  }

  listAndWatch(...lists: readonly KubeList<Pod>[]): Promise<this> {
    return this.begin(lists, () => this.reflector.listAndWatch({ signal: this.signal }));
  }
}

/** A plain informer with a handler. */
export class InformerScene extends Scene {
  readonly handler: RecordingHandler = new RecordingHandler();
  readonly informer: PlainInformer<Pod>;

  constructor(options: Partial<PlainInformerOptions<Pod>> = {}) {
    super();
    const { source: listerWatcher, handler } = this;
    this.informer = newInformerWithOptions<Pod>({ listerWatcher, handler, ...this.options, ...options });
  }

  run(...lists: readonly KubeList<Pod>[]): Promise<this> {
    return this.begin(lists, () => this.informer.controller.run({ signal: this.signal }));
  }
}

/** A controller over a queue. */
export class ControllerScene<Popped> extends Scene {
  readonly controller: Controller<Pod, Popped>;

  constructor(config: Omit<ControllerConfig<Pod, Popped>, 'listerWatcher'>) {
    super();
    this.controller = newController({ listerWatcher: this.source, ...this.options, ...config });
  }

  run(...lists: readonly KubeList<Pod>[]): Promise<this> {
    return this.begin(lists, () => this.controller.run({ signal: this.signal }));
  }
}

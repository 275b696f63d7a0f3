/** A reflector with a scripted ListerWatcher, a store that can be made to fail, and a fake clock. */
import type { ReflectorStore } from '../../../../src/kube/store.ts';
import type { ErrorOrigin } from '../../../../src/client-go/controller/error-reports.ts';
import type { ReflectorOptions } from '../../../../src/client-go/controller/reflector.ts';
import { Reflector } from '../../../../src/client-go/controller/reflector.ts';
import type { ExpectedType } from '../../../../src/client-go/controller/expected-type.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { ScriptedListerWatcher } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

/** Waits until all work that is ready has been done. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class RecordingStore implements ReflectorStore<Pod> {
  readonly pods: Map<string, Pod> = new Map();
  readonly log: string[] = [];
  /** Called for every write; it may throw, to let the write fail. */
  onWrite: (write: string) => void = () => undefined;

  add(item: Pod): void {
    this.#write(`add ${item.metadata.name}@${item.metadata.resourceVersion}`);
    this.pods.set(item.metadata.name, item);
  }

  update(item: Pod): void {
    this.#write(`update ${item.metadata.name}@${item.metadata.resourceVersion}`);
    this.pods.set(item.metadata.name, item);
  }

  delete(item: Pod): void {
    this.#write(`delete ${item.metadata.name}`);
    this.pods.delete(item.metadata.name);
  }

  replace(items: readonly Pod[], resourceVersion: string): void {
    const names = items.map((item) => `${item.metadata.name}@${item.metadata.resourceVersion}`);
    this.#write(`replace [${names.join(' ')}] at ${resourceVersion}`);
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
    return [...this.pods.values()]
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .toSorted();
  }

  take(): string[] {
    return this.log.splice(0);
  }

  #write(write: string): void {
    this.log.push(write);
    this.onWrite(write);
  }
}

export class ReflectorScene {
  readonly clock: FakeClock = new FakeClock();
  readonly source: ScriptedListerWatcher = new ScriptedListerWatcher();
  readonly store: RecordingStore = new RecordingStore();
  readonly errors: string[] = [];
  readonly reflector: Reflector<Pod>;
  readonly #controller = new AbortController();
  /** Result of `run` or `listAndWatch`: `returned`, or the error's code. */
  ending: string | undefined;

  constructor(
    options: ReflectorOptions & { readonly expectedType?: ExpectedType; readonly isStreaming?: boolean } = {},
  ) {
    const { expectedType, isStreaming = false, ...others } = options;
    this.source.isWatchListUnsupported = !isStreaming;
    this.reflector = new Reflector(this.source, expectedType, this.store, {
      clock: this.clock,
      random: () => 0,
      watchErrorHandler: (error, during: ErrorOrigin) => this.errors.push(`${during} ${error.code}`),
      ...others,
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async run(): Promise<this> {
    return await this.#begin(this.reflector.run(this.signal));
  }

  async listAndWatch(): Promise<this> {
    this.ending = undefined;
    return await this.#begin(this.reflector.listAndWatch(this.signal));
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await settle();
  }

  async advance(byMs: number): Promise<void> {
    this.clock.advance(byMs);
    await settle();
  }

  async #begin(running: Promise<void>): Promise<this> {
    running.then(
      () => (this.ending = 'returned'),
      (error: unknown) =>
        (this.ending = error instanceof Error && 'code' in error ? String(error.code) : String(error)),
    );
    await settle();
    return this;
  }
}

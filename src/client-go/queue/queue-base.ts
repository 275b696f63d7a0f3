/**
 * The common part of FIFO, DeltaFIFO and RealFIFO: the name, keys of objects, consumers in their order, and the initial
 * sync.
 */
import type { DoneChecker } from '../../base/done-checker.ts';
import { callback, text } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction } from '../../kube/store.ts';
import { ConsumerLine } from './consumer-line.ts';
import { keyOfObject } from './delta.ts';
import type { MaybeTombstone } from './delta.ts';

/** Options of every queue. */
export interface FIFOOptions<Item> {
  /** Default `metaNamespaceKeyFunc`. */
  readonly keyFunction?: KeyFunction<Item>;
  /** Name of the queue's `hasSyncedChecker`. Default: the name of the class. */
  readonly name?: string;
}

export const FIFO_CHECKS: OptionChecks<FIFOOptions<unknown>> = { keyFunction: callback, name: text };

export abstract class QueueBase<Item> {
  protected readonly keyFunction: KeyFunction<Item>;
  protected readonly sync: InitialSync;
  protected readonly consumers: ConsumerLine = new ConsumerLine();

  constructor(defaultName: string, { name = defaultName, keyFunction }: FIFOOptions<Item>) {
    this.keyFunction = keyFunction ?? metaNamespaceKeyFunc;
    this.sync = new InitialSync(name);
  }

  get name(): string {
    return this.sync.name;
  }

  hasSynced(): boolean {
    return this.sync.isDone;
  }

  get hasSyncedChecker(): DoneChecker {
    return this.sync;
  }

  get isClosed(): boolean {
    return this.consumers.isClosed;
  }

  close(): void {
    this.consumers.close();
  }

  protected readonly keyOfObject = (object: MaybeTombstone<Item>): string =>
    keyOfObject(this.keyFunction, object);
}

/**
 * Tracks the processing of the items of the first `replace`. All queues count down after the processing; client-go's
 * DeltaFIFO reports the sync before the last item is processed.
 */
class InitialSync implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  #resolve!: () => void;
  /** Items of the first list that are not processed yet; undefined before the first change or list. */
  #left: number | undefined = undefined;

  constructor(name: string) {
    this.name = name;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  get left(): number {
    return this.#left ?? 0;
  }

  get reason(): string {
    if (this.#left === undefined) return 'nothing has been received yet';
    return this.#left === 0 ? 'synced' : `${this.#left} of the first list are not processed yet`;
  }

  /** Records a change. A change before the first list means that there is no list to wait for. */
  changed(): void {
    this.replaced(0);
  }

  /** Records a list. Returns true if no change or list came before: the sync waits for `count` items. */
  replaced(count: number): boolean {
    if (this.#left !== undefined) return false;
    this.#set(count);
    return true;
  }

  processed(count: number): void {
    if (this.#left !== undefined && this.#left > 0) this.#set(Math.max(0, this.#left - count));
  }

  #set(left: number): void {
    this.#left = left;
    if (left === 0) this.#resolve();
  }
}

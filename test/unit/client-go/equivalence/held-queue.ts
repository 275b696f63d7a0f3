/** A queue that holds its changes back until a test releases them, and records the pops. */
import type { DoneChecker } from '../../../../src/base/done-checker.ts';
import type { Deltas } from '../../../../src/client-go/queue/delta.ts';
import type { PopProcess, Queue } from '../../../../src/client-go/queue/queue.ts';
import { deltasText } from '../queue/notation.ts';
import type { TestObject } from '../queue/notation.ts';

export type InnerQueue = Queue<TestObject, Deltas<TestObject>> & { readonly size: number };

export class HeldQueue implements Queue<TestObject, Deltas<TestObject>> {
  /** Popped values, one text for each pop. */
  readonly popped: string[] = [];
  readonly #inner: InnerQueue;
  #isHeld = true;
  #wake: () => void = () => undefined;
  #released: () => void = () => undefined;

  constructor(inner: InnerQueue) {
    this.#inner = inner;
  }

  /** Resolves when all queued changes have been processed; then it holds changes again. */
  release(): Promise<void> {
    return new Promise((resolve) => {
      this.#isHeld = false;
      this.#released = resolve;
      this.#wake();
    });
  }

  async pop(process: PopProcess<Deltas<TestObject>>, signal?: AbortSignal): Promise<Deltas<TestObject>> {
    while (this.#isHeld || this.#inner.size === 0) {
      if (!this.#isHeld) this.#released();
      this.#isHeld = true;
      await this.#woken(signal);
      signal?.throwIfAborted();
    }
    const deltas = await this.#inner.pop(process, signal);
    this.popped.push(deltasText(deltas));
    return deltas;
  }

  add(item: TestObject): void {
    this.#inner.add(item);
  }

  update(item: TestObject): void {
    this.#inner.update(item);
  }

  delete(item: TestObject): void {
    this.#inner.delete(item);
  }

  replace(items: readonly TestObject[], resourceVersion: string): void {
    this.#inner.replace(items, resourceVersion);
  }

  resync(): void {
    this.#inner.resync();
  }

  bookmark(resourceVersion: string): void {
    this.#inner.bookmark?.(resourceVersion);
  }

  hasSynced(): boolean {
    return this.#inner.hasSynced();
  }

  get hasSyncedChecker(): DoneChecker {
    return this.#inner.hasSyncedChecker;
  }

  close(): void {
    this.#inner.close();
    this.#wake();
  }

  #woken(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

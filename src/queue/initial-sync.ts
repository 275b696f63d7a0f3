/**
 * Whether what the first `replace` brought has been processed. Counted down after the processing, in all
 * queues: in client-go a DeltaFIFO reports it before its last item is processed.
 */
import type { DoneChecker } from '../done-checker.ts';

export class InitialSync implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  #resolve!: () => void;
  /** Of the first list, not processed yet; undefined before anything was received. */
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

  /** A change came. Before any list there is nothing to wait for. */
  changed(): void {
    this.replaced(0);
  }

  /** A list came. Gives true when it was the first that anything came: `count` is waited for. */
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

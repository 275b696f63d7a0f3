/** DoneChecker whose owner calls `finish` or `fail`. */
import type { DoneChecker, DoneProgress } from '../base/done-checker.ts';

export class SettableDoneChecker implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  readonly failed: Promise<Error>;
  isDone = false;
  readonly #reason: () => string;
  readonly #progress: () => DoneProgress | undefined;
  #resolve!: () => void;
  #fail!: (failure: Error) => void;

  /**
   * @param reason text that says why it is not done yet
   * @param progress progress until then
   */
  constructor(
    name: string,
    reason: () => string,
    progress: () => DoneProgress | undefined = () => undefined,
  ) {
    this.name = name;
    this.#reason = reason;
    this.#progress = progress;
    this.done = new Promise((resolve) => (this.#resolve = resolve));
    this.failed = new Promise((resolve) => (this.#fail = resolve));
  }

  get reason(): string {
    return this.isDone ? '' : this.#reason();
  }

  get progress(): DoneProgress | undefined {
    return this.#progress();
  }

  /** Resolves `failed`: it can never be done. */
  fail(failure: Error): void {
    if (!this.isDone) this.#fail(failure);
  }

  finish(): void {
    this.isDone = true;
    this.#resolve();
  }
}

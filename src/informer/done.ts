/** A DoneChecker that is told once that it is done. */
import type { DoneChecker, DoneProgress } from '../done-checker.ts';

export class Done implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  readonly failed: Promise<Error>;
  readonly #reason: () => string;
  readonly #progress: () => DoneProgress | undefined;
  #resolve!: () => void;
  #fail!: (failure: Error) => void;
  #isDone = false;

  /**
   * @param reason why it is not done yet
   * @param progress how far it is
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

  get isDone(): boolean {
    return this.#isDone;
  }

  /** '' once it is done. */
  get reason(): string {
    return this.#isDone ? '' : this.#reason();
  }

  get progress(): DoneProgress | undefined {
    return this.#progress();
  }

  /** It will never be done. */
  fail(failure: Error): void {
    if (!this.#isDone) this.#fail(failure);
  }

  finish(): void {
    this.#isDone = true;
    this.#resolve();
  }
}

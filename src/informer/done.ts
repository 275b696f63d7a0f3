/** A DoneChecker that is told once that it is done. */
import type { DoneChecker, DoneProgress } from '../done-checker.ts';

export class Done implements DoneChecker {
  readonly name: string;
  readonly done: Promise<void>;
  readonly #reason: () => string;
  readonly #progress: () => DoneProgress | undefined;
  #resolve!: () => void;
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

  finish(): void {
    this.#isDone = true;
    this.#resolve();
  }
}

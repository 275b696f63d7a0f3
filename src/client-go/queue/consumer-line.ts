/**
 * Consumers of one queue, in the order in which they came. Only the first one takes and processes. The others
 * wait until its promise settles, as they wait for client-go's lock. So a consumer whose processing waits for
 * another pop of the same queue waits forever. Producers never wait.
 */
import { KubeloomError } from '../../base/errors.ts';
import { realClock } from '../../base/clock.ts';
import { LoopTurns } from '../../base/loop-turns.ts';
import { abortable } from '../../base/on-abort.ts';

export class ConsumerLine {
  readonly #closedError: () => Error;
  /** Settles when all consumers in the line are done. */
  #last: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};
  readonly #turns: LoopTurns = new LoopTurns(realClock);
  #isClosed = false;

  /** @param what name of the queue in the error after its end */
  constructor(what = 'queue') {
    const message = `the ${what} is closed and empty: stop popping`;
    this.#closedError = () => new KubeloomError('ERR_KUBELOOM_QUEUE_CLOSED', message);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Announces that there may be something to take. The consumer looks after the caller's synchronous code has ended.
   */
  changed(): void {
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /**
   * Waits for its turn and until `take` returns something, and then processes that. The signal ends the waiting,
   * not the processing. Nothing is taken for a consumer that has given up.
   */
  async consume<Taken extends object, Result>(
    take: () => Taken | undefined,
    process: (taken: Taken) => Result | Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const before = this.#last;
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    // When this consumer gives up early, the next one still waits for those before both.
    this.#last = before.then(() => left);
    try {
      await abortable(before, signal);
      const turn = this.#turns.next();
      if (turn) await abortable(turn, signal);
      return await process(await this.#next(take, signal));
    } finally {
      leave();
    }
  }

  async #next<Taken>(take: () => Taken | undefined, signal: AbortSignal | undefined): Promise<Taken> {
    for (;;) {
      const taken = take();
      if (taken !== undefined) return taken;
      if (this.#isClosed) throw this.#closedError();
      const awake = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await abortable(awake, signal);
    }
  }
}

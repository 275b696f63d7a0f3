/**
 * Consumers of a queue, in order of arrival. Only the first takes and processes a value. The others wait until the
 * promise of the first settles, as they wait for client-go's lock. So a consumer whose processing waits for another pop
 * of the same queue waits forever. Producers never wait.
 */
import { KubeloomError } from '../../base/errors.ts';
import { realClock } from '../../base/clock.ts';
import { LoopTurns } from '../../base/loop-turns.ts';
import { abortable } from '../../base/on-abort.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';

export class ConsumerLine {
  readonly #closedError: () => Error;
  /** Settles when all consumers in the line are done. */
  #last: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};
  readonly #turns: LoopTurns = new LoopTurns(realClock);
  #isClosed = false;

  /** @param what name of the queue in the error after the queue was closed */
  constructor(what = 'queue') {
    const message = `the ${what} is closed and empty: stop popping`;
    this.#closedError = () => new KubeloomError('ERR_KUBELOOM_QUEUE_CLOSED', message);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Announces that there may be a value to take. The consumer looks after the caller's synchronous code returned. */
  changed(): void {
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /**
   * Waits until the earlier consumers are done and `take` returns a value, and processes the value. The signal ends the
   * waiting, not the processing. A consumer that gave up never takes a value.
   */
  async consume<Taken extends object, Result>(
    take: () => Taken | undefined,
    process: (taken: Taken) => Result | Promise<Result>,
    options: SignalOptions | undefined,
  ): Promise<Result> {
    const signal = signalOf('pop()', options);
    const before = this.#last;
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    // When this consumer gives up early, the next consumer still waits for the consumers before both.
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

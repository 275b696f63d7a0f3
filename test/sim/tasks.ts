/** The main thread's event loop: tasks of `setImmediate` in their order, run when the simulator says so. */
import type { FakeClock } from '../../src/apiserver/testing/index.ts';
import type { LoopTimers } from '../../src/informer/threads/main-loop.ts';

export class Tasks {
  readonly #waiting: (() => void)[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  next(): void {
    this.#waiting.shift()?.();
  }

  timersOn(clock: FakeClock): LoopTimers {
    const setImmediate = (task: () => void): void => void this.#waiting.push(task);
    // When its time has come, the task joins the others.
    const setTimeout = (task: () => void, delayMs: number): (() => void) =>
      clock.schedule(delayMs, () => this.#waiting.push(task));
    return { setImmediate, setTimeout } as unknown as LoopTimers;
  }
}

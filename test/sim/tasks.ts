/** A queue of tasks, run when the simulator says so: those of the main thread's event loop, or messages of a port. */
import type { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import type { LoopTimers } from '../../src/informer/threads/main-loop.ts';

export class Tasks {
  readonly #waiting: (() => void)[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  push(task: () => void): void {
    this.#waiting.push(task);
  }

  next(): void {
    this.#waiting.shift()?.();
  }

  timersOn(clock: FakeClock): LoopTimers {
    const setImmediate = (task: () => void): void => this.push(task);
    // When its time has come, the task joins the others.
    const setTimeout = (task: () => void, delayMs: number): (() => void) =>
      clock.schedule(delayMs, () => this.push(task));
    return { setImmediate, setTimeout } as unknown as LoopTimers;
  }
}

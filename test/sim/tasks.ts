/** The main thread's event loop: what was to run "immediately", in its order, when the simulator says so. */
import type { FakeClock } from '../../src/testing/index.ts';
import type { LoopTimers } from '../../src/threads/main-loop.ts';

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
    // At its time it is put where the others wait.
    const setTimeout = (task: () => void, delayMs: number): (() => void) =>
      clock.schedule(delayMs, () => this.#waiting.push(task));
    return { setImmediate, setTimeout } as unknown as LoopTimers;
  }
}

/**
 * A fence ends the right to act: of a leader, or of the owner of a partition. It is a time, and not a message: code that asks its signal
 * compares that time with a clock, so a process that was frozen, and threads whose main thread is blocked, find it ended by themselves.
 *
 *   renewal ──► Fence.extend ──► deadline in shared memory ──┬─► signals of the main thread and their descendants (LinkedController)
 *                                                            └─► signals of other threads (followFence)
 */
import type { Clock } from '../base/clock.ts';
import { backgroundClock } from '../base/clock.ts';
import { onAbort } from '../base/on-abort.ts';
import { Deadline } from './ring/deadline.ts';

/** The memory behind the signals of fences and their descendants. */
const memories = new WeakMap<AbortSignal, SharedArrayBuffer>();

/** The signals of this thread's fences that are not over. */
const fences = new Set<AbortSignal>();

/** A parent for the signals of writes: asking it asks every fence, which aborts the signals that `AbortSignal.any` made of its own. */
export const everyFence: AbortSignal = lookingSignal(new AbortController(), () => {
  for (const fence of fences) void fence.aborted;
});

/**
 * Returns the memory of the fence that ends this signal, for `followFence` in another thread; undefined without a fence. No code can see
 * of which signals a signal is composed, so the only fence of the program counts as the fence of any signal.
 */
export function fenceMemoryOf(signal: AbortSignal): SharedArrayBuffer | undefined {
  const [only = signal] = fences.size === 1 ? fences : [];
  return memories.get(signal) ?? memories.get(only);
}

export class Fence {
  /** Aborted when the time has come, and by `abort`. Timers and answers that are older than any timer also find it aborted. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #deadline = new Deadline();
  readonly #clock: Clock;
  readonly #over: () => unknown;
  #untilMs: number;

  /**
   * A fence owns no timer: the owner of the fence does.
   *
   * @param untilMs time of the clock
   * @param over called by the first look after the time has come. It may call `abort`; otherwise the result is the reason
   */
  constructor(clock: Clock, untilMs: number, over: () => unknown) {
    this.#clock = clock;
    this.#over = over;
    this.#untilMs = untilMs;
    this.signal = lookingSignal(this.#controller, () => this.#look());
    this.#publish();
    memories.set(this.signal, this.#deadline.memory);
    fences.add(this.signal);
  }

  /** Moves the time forward, after a renewal. Without effect on a fence that is over: it does not open again. */
  extend(untilMs: number): void {
    if (untilMs <= this.#untilMs || this.signal.aborted) return;
    this.#untilMs = untilMs;
    this.#publish();
  }

  abort(reason: unknown): void {
    this.#deadline.end();
    fences.delete(this.signal);
    this.#controller.abort(reason);
  }

  #publish(): void {
    this.#deadline.move(() => this.#untilMs - this.#clock.now());
  }

  #look(): void {
    if (this.#clock.now() < this.#untilMs) return;
    this.#untilMs = Infinity;
    this.abort(this.#over());
  }
}

/**
 * A controller whose signal is aborted with each of its parents, and by itself. The signal asks its parents when it is asked, as
 * `AbortSignal.any` does not: a fence looks at a clock for each answer.
 */
export class LinkedController implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #unlisten: readonly (() => void)[];

  constructor(...parents: readonly AbortSignal[]) {
    this.signal = lookingSignal(this.#controller, () => {
      for (const parent of parents) if (parent.aborted) this.abort(parent.reason);
    });
    const memory = parents.map((parent) => memories.get(parent)).find((found) => found !== undefined);
    if (memory) memories.set(this.signal, memory);
    this.#unlisten = parents.map((parent) => onAbort(parent, () => this.abort(parent.reason)));
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Forgets the parents. */
  [Symbol.dispose](): void {
    for (const unlisten of this.#unlisten) unlisten();
  }
}

/**
 * Lets the controller's signal end with a fence of another thread, whose memory this is: whenever the signal is asked, and by a timer
 * of this thread. @returns a function that ends the timer
 */
export function followFence(memory: SharedArrayBuffer, controller: AbortController): () => void {
  const deadline = new Deadline(memory);
  const look = (): number => {
    const { remainingMs } = deadline;
    if (remainingMs <= 0 && !isAborted(controller.signal)) controller.abort();
    return remainingMs;
  };
  let cancel = (): void => undefined;
  const arm = (): void => {
    const remainingMs = look();
    if (remainingMs > 0) cancel = backgroundClock.schedule(Math.ceil(remainingMs), arm);
  };
  const signal = lookingSignal(controller, look);
  memories.set(signal, memory);
  fences.add(signal);
  arm();
  return () => {
    cancel();
    fences.delete(signal);
  };
}

/**
 * Returns the controller's signal, on which `aborted` and `throwIfAborted` call `look` first, which may abort it. Deno's controllers
 * ask their own signal while they abort: a signal does not look again while it looks.
 */
function lookingSignal({ signal }: AbortController, look: () => void): AbortSignal {
  let isLooking = false;
  const looked = (): boolean => {
    if (isLooking || isAborted(signal)) return isAborted(signal);
    isLooking = true;
    try {
      look();
    } finally {
      isLooking = false;
    }
    return isAborted(signal);
  };
  const throwIfAborted = (): void => {
    if (looked()) throw signal.reason;
  };
  return Object.defineProperties(signal, {
    aborted: { get: looked },
    throwIfAborted: { value: throwIfAborted },
  });
}

/** Returns whether the signal is aborted, without a look. */
function isAborted(signal: AbortSignal): boolean {
  return Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal);
}

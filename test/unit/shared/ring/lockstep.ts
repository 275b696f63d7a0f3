/**
 * Runs every interleaving of two threads over the real code, up to a number of preemptions (CHESS): the threads
 * stop before each access to shared memory, and this scheduler decides which one makes the next. When no thread
 * can continue, a wake-up was lost.
 */
import { Worker } from 'node:worker_threads';
import { BELL_LINES } from '../../../../src/shared/ring/bell.ts';
import { RingMemory, allocateRing } from '../../../../src/shared/ring/ring.ts';
import { allocateWords } from '../../../../src/shared/ring/word.ts';
import {
  ABORT,
  AT,
  BLOCKED_ADDRESS,
  GO,
  NOTIFIED,
  ROLES,
  RUN,
  STATE,
  State,
  WORDS_PER_THREAD,
} from './lockstep-protocol.ts';
import type { LockstepPlan } from './lockstep-protocol.ts';
import { HANG_MS } from '../../../kit/hang.ts';

export interface LockstepOptions extends Pick<LockstepPlan, 'records' | 'payloadBytesMax' | 'mutant'> {
  readonly capacity: number;
  readonly startPosition: number;
  /** Maximum number of switches away from a thread that could continue, in one schedule. */
  readonly preemptionsMax: number;
  readonly schedulesMax?: number;
}

export interface LockstepResult {
  readonly schedules: number;
  readonly steps: number;
  /** True when all schedules within the bounds were run. */
  readonly isExhausted: boolean;
  /** Thread of each step, up to the failure. */
  readonly failure?: { readonly what: string; readonly schedule: string };
}

interface Decision {
  readonly chosen: number;
  /** Untried threads, with the preemptions that each would cost. */
  readonly others: number[];
}

const STEPS_MAX = 2000;

export async function exploreRing(options: LockstepOptions): Promise<LockstepResult> {
  const scheduler = new Scheduler(options);
  try {
    return scheduler.explore();
  } finally {
    await scheduler.close();
  }
}

class Scheduler {
  readonly #options: LockstepOptions;
  readonly #control = new Int32Array(
    new SharedArrayBuffer(ROLES.length * WORDS_PER_THREAD * Int32Array.BYTES_PER_ELEMENT),
  );
  readonly #ring: SharedArrayBuffer;
  readonly #bells: SharedArrayBuffer = allocateWords(2 * BELL_LINES);
  readonly #workers: Worker[];
  readonly #arrivals = ROLES.map(() => 0);
  #steps = 0;

  constructor(options: LockstepOptions) {
    this.#options = options;
    this.#ring = allocateRing(options.capacity, options.startPosition);
    this.#workers = ROLES.map((role) => {
      const shared = { control: this.#control.buffer, ring: this.#ring, bells: this.#bells };
      const plan: LockstepPlan = { role, ...shared, ...options };
      return new Worker(new URL('./lockstep-actor.js', import.meta.url), { workerData: plan });
    });
  }

  explore(): LockstepResult {
    const { schedulesMax = Number.POSITIVE_INFINITY } = this.#options;
    let prefix: Decision[] = [];
    let schedules = 0;
    for (;;) {
      const { decisions, failure } = this.#run(prefix);
      schedules++;
      const steps = this.#steps;
      if (failure !== undefined) {
        const schedule = decisions.map(({ chosen }) => ROLES[chosen]?.[0]).join('');
        return { schedules, steps, isExhausted: false, failure: { what: failure, schedule } };
      }
      const next = nextPrefix(decisions);
      if (!next) return { schedules, steps, isExhausted: true };
      if (schedules >= schedulesMax) return { schedules, steps, isExhausted: false };
      prefix = next;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  /** Runs one schedule: the decisions of the prefix, then the running thread continues as long as it can. */
  #run(prefix: readonly Decision[]): { decisions: Decision[]; failure?: string } {
    this.#reset();
    const decisions: Decision[] = [];
    let current = 0;
    let preemptions = 0;
    while (decisions.length < STEPS_MAX) {
      const ready = this.#inState(State.Ready);
      if (this.#inState(State.Failed).length > 0) return this.#end(decisions, 'a record was not what it was');
      if (ready.length === 0) {
        const isDone = this.#inState(State.Done).length === ROLES.length;
        return this.#end(decisions, isDone ? undefined : 'no thread can continue: a wake-up was lost');
      }
      const canGoOn = ready.includes(current);
      const given = prefix[decisions.length];
      const chosen = given?.chosen ?? (canGoOn ? current : (ready[0] ?? 0));
      const isFree = !canGoOn || preemptions < this.#options.preemptionsMax;
      const others = given?.others ?? (isFree ? ready.filter((one) => one !== chosen) : []);
      decisions.push({ chosen, others: [...others] });
      if (canGoOn && chosen !== current) preemptions++;
      current = chosen;
      this.#step(chosen);
    }
    return this.#end(decisions, `no end after ${STEPS_MAX} steps`);
  }

  #reset(): void {
    new Uint8Array(this.#ring).fill(0);
    new Uint8Array(this.#bells).fill(0);
    const memory = new RingMemory(this.#ring);
    memory.tail.store(this.#options.startPosition);
    memory.head.store(this.#options.startPosition);
    for (const thread of ROLES.keys()) {
      this.#set(thread, GO, 0);
      this.#set(thread, NOTIFIED, 0);
      Atomics.add(this.#control, thread * WORDS_PER_THREAD + RUN, 1);
      Atomics.notify(this.#control, thread * WORDS_PER_THREAD + RUN);
      this.#awaitArrival(thread);
    }
  }

  #step(thread: number): void {
    this.#steps++;
    Atomics.add(this.#control, thread * WORDS_PER_THREAD + GO, 1);
    Atomics.notify(this.#control, thread * WORDS_PER_THREAD + GO);
    this.#awaitArrival(thread);
    const notified = this.#get(thread, NOTIFIED);
    if (notified === 0) return;
    this.#set(thread, NOTIFIED, 0);
    for (const blocked of this.#inState(State.Blocked)) {
      if (this.#get(blocked, BLOCKED_ADDRESS) === notified - 1) this.#set(blocked, STATE, State.Ready);
    }
  }

  /** Ends the run of all threads. */
  #end(decisions: Decision[], failure: string | undefined): { decisions: Decision[]; failure?: string } {
    for (const thread of ROLES.keys()) {
      const state = this.#get(thread, STATE);
      if (state !== State.Ready && state !== State.Blocked) continue;
      this.#set(thread, GO, ABORT);
      Atomics.notify(this.#control, thread * WORDS_PER_THREAD + GO);
      this.#awaitArrival(thread);
    }
    return failure === undefined ? { decisions } : { decisions, failure };
  }

  #awaitArrival(thread: number): void {
    const index = thread * WORDS_PER_THREAD + AT;
    const before = this.#arrivals[thread] ?? 0;
    // The notification of the access before may come late, and end a wait for this one.
    while (Atomics.load(this.#control, index) === before) {
      if (Atomics.wait(this.#control, index, before, HANG_MS) === 'timed-out') {
        throw new Error(`the ${ROLES[thread]} does not arrive`);
      }
    }
    this.#arrivals[thread] = before + 1;
  }

  #inState(state: number): number[] {
    return [...ROLES.keys()].filter((thread) => this.#get(thread, STATE) === state);
  }

  #get(thread: number, word: number): number {
    return Atomics.load(this.#control, thread * WORDS_PER_THREAD + word);
  }

  #set(thread: number, word: number, value: number): void {
    Atomics.store(this.#control, thread * WORDS_PER_THREAD + word, value);
  }
}

/** Returns the same decisions up to the last one with an alternative; undefined when all were tried. */
function nextPrefix(decisions: readonly Decision[]): Decision[] | undefined {
  for (let last = decisions.length - 1; last >= 0; last--) {
    const { others } = decisions[last] ?? { others: [] };
    const [chosen, ...rest] = others;
    if (chosen !== undefined) return [...decisions.slice(0, last), { chosen, others: rest }];
  }
  return undefined;
}

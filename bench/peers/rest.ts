/**
 * A JavaScript client's CPU time and wake-ups in a section of a watch, after a warm-up. The delay of the event loop is
 * not measured, because that takes a timer, and no other code may run.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import type { OutcomeRow, Task } from '../task.ts';
import type { Result } from './program.ts';

const TASKS = '/proc/self/task';

/** Number of times that each thread gave up the processor, by the thread's id. */
export type Switches = ReadonlyMap<string, number>;

/** Takes the place of `Receiver` for `rest`. */
export class RestReceiver {
  readonly result: Promise<Result>;
  readonly #task: Task;
  readonly #unmeasured: number;
  #finish: (result: Result) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #handled = 0;
  #checksum = 0;

  constructor(task: Task) {
    this.#task = task;
    this.#unmeasured = task.objects * (task.informers ?? 1) + (task.warmUpEvents ?? 0);
    this.result = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
  }

  added(keyLength: number): void {
    this.modified(keyLength);
  }

  /** Counts a call of a handler, or a reconciliation. */
  modified(keyLength: number): void {
    this.#checksum += keyLength;
    if (++this.#handled === this.#unmeasured) this.#measure().catch(this.#fail);
  }

  failed(error: unknown): void {
    this.#fail(error);
  }

  async #measure(): Promise<void> {
    const measured = await measureRest(this.#task, () => this.#handled);
    this.#finish({ ...measured, checksum: this.#checksum });
  }
}

/** Measures this process in a section of the task. @param handled number of events handled so far */
export async function measureRest(
  { settleMs, cellMs }: Task,
  handled: () => number = () => 0,
): Promise<Result> {
  await after(settleMs);
  const handledBefore = handled();
  const switchesBefore = voluntarySwitches();
  const cpuBefore = process.cpuUsage();
  const startedAtMs = performance.now();
  await after(cellMs);
  const elapsedMs = performance.now() - startedAtMs;
  const seconds = elapsedMs / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuMs = (user + system) / 1000;
  const wakeUps = wakeUpsBetween(switchesBefore, voluntarySwitches());
  const rows: OutcomeRow[] = [
    { case: '', unit: 'cpu-ms/s', value: cpuMs / seconds },
    { case: 'rss', unit: 'bytes', value: process.memoryUsage.rss() },
  ];
  // Unknown on systems other than Linux.
  if (switchesBefore.size > 0) rows.push({ case: '', unit: 'wake-ups/s', value: wakeUps / seconds });
  return { events: handled() - handledBefore, elapsedMs, cpuMs, rows };
}

/** Returns the wake-ups of all threads that are there at the end, those that started meanwhile included. */
export function wakeUpsBetween(before: Switches, later: Switches): number {
  let sum = 0;
  for (const [thread, count] of later) sum += count - (before.get(thread) ?? 0);
  return sum;
}

/** Linux's counters of the process's threads; empty on other systems. */
function voluntarySwitches(): Switches {
  const threads = new Map<string, number>();
  for (const thread of threadIds()) {
    const count = switchesOf(thread);
    if (count !== undefined) threads.set(thread, count);
  }
  return threads;
}

function threadIds(): string[] {
  try {
    return readdirSync(TASKS);
  } catch {
    // Not Linux.
    return [];
  }
}

function switchesOf(thread: string): number | undefined {
  try {
    const status = readFileSync(`${TASKS}/${thread}/status`, 'utf8');
    return Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    // The thread ended.
    return undefined;
  }
}

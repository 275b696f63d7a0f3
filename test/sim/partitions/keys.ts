/**
 * The objects that a group divides. A work lists its partition when it begins, and watches it until its end. The server counts each
 * event that it sends. Changes are a closed loop: the next one follows the answer. Judged: no key is at work in two members, or
 * in an older state than before.
 */
import type { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../../src/base/clock.ts';
import type { Tenure } from '../../../src/partitions/tenure.ts';
import type { SimulatedProcess } from '../election/process.ts';

export const KEYS_OF_PARTITION = 3;
const DELAY_MAX_MS = 40;
/** Longest time for the answer to a change. */
const ANSWER_MAX_MS = 1000;
const WORK_MAX_MS = 200;
/** A connection without a network sends again after this time. */
const AGAIN_MS = 1000;

/** The watch of one work. */
interface Watch {
  readonly process: SimulatedProcess;
  readonly tenure: Tenure;
  /** Versions that the work has received, by key. */
  readonly known: Map<number, number>;
  /** Keys that are at work. */
  readonly busy: Set<number>;
}

interface Change {
  readonly version: number;
  readonly atMs: number;
}

export class Keys {
  readonly violations: string[] = [];
  /** Events that the server has sent to each process. */
  readonly sent: Map<SimulatedProcess, number> = new Map();
  /** Changes that the server has answered. */
  changes = 0;
  /** The longest time from a change to the end of a work that has it. */
  longestWaitMs = 0;
  readonly #truth: FakeClock;
  readonly #random: Random;
  readonly #count: number;
  readonly #watches: Set<Watch> = new Set();
  readonly #versions: number[] = [];
  /** Changes that no work has ended on, by key. */
  readonly #due: Change[][];
  /** Newest version of each key that was at work. */
  readonly #worked: number[] = [];

  constructor(truth: FakeClock, random: Random, partitions: number) {
    this.#truth = truth;
    this.#random = random;
    this.#count = partitions * KEYS_OF_PARTITION;
    this.#due = Array.from({ length: this.#count }, () => []);
  }

  /** Makes this many changes, to one key after the other. */
  change(times: number): void {
    if (times === 0) return;
    const key = this.changes++ % this.#count;
    const version = this.changes;
    this.#versions[key] = version;
    this.#due[key]?.push({ version, atMs: this.#truth.now() });
    for (const watch of this.#watches) {
      if (watch.process.isDead || !this.#isOf(watch, key)) continue;
      this.sent.set(watch.process, (this.sent.get(watch.process) ?? 0) + 1);
      this.#deliver(watch, key, version);
    }
    this.#truth.schedule(this.#random() * ANSWER_MAX_MS, () => this.change(times - 1));
  }

  /** Keys whose newest state no work has ended on. */
  get overdue(): readonly number[] {
    return [...this.#due.keys()].filter((key) => (this.#due[key] ?? []).length > 0);
  }

  /** Begins the work of a tenure. Returns a function that ends it. */
  open(process: SimulatedProcess, tenure: Tenure): () => void {
    const watch: Watch = { process, tenure, known: new Map(), busy: new Set() };
    this.#watches.add(watch);
    for (const [key, version] of this.#versions.entries())
      if (this.#isOf(watch, key)) this.#deliver(watch, key, version);
    return () => this.#watches.delete(watch);
  }

  #isOf({ tenure }: Watch, key: number): boolean {
    return Math.floor(key / KEYS_OF_PARTITION) === tenure.partition;
  }

  #deliver(watch: Watch, key: number, version: number): void {
    const { process, known } = watch;
    this.#truth.schedule(process.isCutOff ? AGAIN_MS : this.#delayMs(), () => {
      if (process.isCutOff) return this.#deliver(watch, key, version);
      return process.run(() => {
        known.set(key, Math.max(version, known.get(key) ?? 0));
        this.#work(watch, key);
      });
    });
  }

  /** Works on a key in its newest state, unless the work on the partition is over, and again if the state has changed. */
  #work(watch: Watch, key: number): void {
    const { process, tenure, known, busy } = watch;
    if (tenure.drainSignal.aborted || tenure.signal.aborted || busy.has(key)) return;
    const version = known.get(key) ?? 0;
    const before = this.#worked[key] ?? 0;
    const what = `${process.identity} works on key ${key} at ${version}`;
    if (version < before && !process.isStale) this.violations.push(`${what} after a work at ${before}`);
    for (const other of this.#watches) {
      const isOver = other.process.isDead || other.tenure.signal.aborted;
      if (other === watch || isOver || !other.busy.has(key) || process.isStale || other.process.isStale)
        continue;
      this.violations.push(`${what} while ${other.process.identity} does`);
    }
    this.#worked[key] = Math.max(version, before);
    busy.add(key);
    process.clock.schedule(this.#random() * WORK_MAX_MS, () => {
      busy.delete(key);
      if (tenure.signal.aborted) return;
      this.#ended(key, version);
      if ((known.get(key) ?? 0) > version) this.#work(watch, key);
    });
  }

  #ended(key: number, version: number): void {
    const due = this.#due[key] ?? [];
    for (let next = due[0]; next && next.version <= version; next = due[0]) {
      this.longestWaitMs = Math.max(this.longestWaitMs, this.#truth.now() - next.atMs);
      due.shift();
    }
  }

  #delayMs(): number {
    return 1 + this.#random() * DELAY_MAX_MS;
  }
}

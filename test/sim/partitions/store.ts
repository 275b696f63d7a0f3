/**
 * The Leases of a group behind a bad network: requests and answers are slow or lost, each member's watch lags, or stops for a
 * while, and other programs edit Leases. All times are true times.
 */
import type { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../../src/base/clock.ts';
import { KubeloomError } from '../../../src/base/errors.ts';
import type { LeaderElectionRecord, ResourceLock, StoredRecord } from '../../../src/controller/index.ts';
import type { SimulatedProcess } from '../election/process.ts';

const FAST_MS = 40;
const SLOW_MS = 4000;

export interface Watcher {
  readonly process: SimulatedProcess;
  readonly see: (name: string, stored: StoredRecord | undefined) => void;
}

/** The watch of one member. */
interface Watch extends Watcher {
  lastMs: number;
  isBroken: boolean;
  readonly known: Set<string>;
}

export class LeaseStore {
  readonly #truth: FakeClock;
  readonly #random: Random;
  readonly #leases: Map<string, StoredRecord> = new Map();
  readonly #watches: Set<Watch> = new Set();
  #version = 0;
  /** Share of requests and answers that are lost, and of slow ones. */
  badShare = 0;
  /** Time until which the server refuses deletions. */
  undeletableUntilMs = 0;
  /** Whether a version that was not read can be replaced. Only in a mutant. */
  isCareless = false;
  /** Requests, by the process that sent them. */
  readonly requests: Map<SimulatedProcess, number> = new Map();

  constructor(truth: FakeClock, random: Random) {
    this.#truth = truth;
    this.#random = random;
  }

  get names(): readonly string[] {
    return [...this.#leases.keys()];
  }

  /** Shows all leases, and then each change, in order. Returns a function that breaks the watch for a time. */
  watch(watcher: Watcher): (forMs: number) => void {
    const watch: Watch = { ...watcher, lastMs: 0, isBroken: false, known: new Set() };
    for (const [name, stored] of this.#leases) this.#show(watch, name, stored);
    this.#watches.add(watch);
    return (forMs) => {
      watch.isBroken = true;
      this.#truth.schedule(forMs, () => {
        watch.isBroken = false;
        for (const name of new Set([...watch.known, ...this.#leases.keys()])) this.#notify(watch, name);
      });
    };
  }

  /** Deletes a lease, as a person does. */
  delete(name: string): void {
    if (this.#leases.delete(name)) this.#changed(name);
  }

  /** Edits a lease, as a person does. */
  edit(
    name: string,
    change: (record: LeaderElectionRecord) => Partial<LeaderElectionRecord> | undefined,
  ): void {
    const stored = this.#leases.get(name);
    const changes = stored && change(stored.record);
    if (changes) this.#write(name, stored, { ...stored.record, ...changes });
  }

  /** Deletes a lease in a version. */
  async forget(process: SimulatedProcess, name: string, version: string): Promise<void> {
    await this.#send(process, () => {
      const isRefused = this.#truth.now() < this.undeletableUntilMs;
      if (!isRefused && this.#leases.get(name)?.source === version) this.delete(name);
    });
  }

  lockOf(process: SimulatedProcess, name: string): ResourceLock {
    const write = (read: StoredRecord | undefined, record: LeaderElectionRecord): Promise<StoredRecord> =>
      this.#send(process, () => this.#write(name, read, record));
    return {
      identity: process.identity,
      describe: () => name,
      get: () => this.#send(process, () => this.#leases.get(name)),
      create: (record) => write(undefined, record),
      update: (stored, record) => write(stored, record),
    };
  }

  #write(name: string, read: StoredRecord | undefined, record: LeaderElectionRecord): StoredRecord {
    const now = this.#leases.get(name);
    if (read && !now) throw new KubeloomError('ERR_KUBELOOM_NOT_FOUND', name);
    if (read?.source !== now?.source && !this.isCareless)
      throw new KubeloomError('ERR_KUBELOOM_CONFLICT', name);
    const stored = { record, source: String(++this.#version) };
    this.#leases.set(name, stored);
    this.#changed(name);
    return stored;
  }

  #changed(name: string): void {
    for (const watch of this.#watches) this.#notify(watch, name);
  }

  #notify(watch: Watch, name: string): void {
    if (watch.isBroken) return;
    const stored = this.#leases.get(name);
    watch.lastMs = Math.max(watch.lastMs, this.#truth.now() + this.#delayMs());
    this.#truth.schedule(watch.lastMs - this.#truth.now(), () =>
      watch.process.run(() => this.#show(watch, name, stored)),
    );
  }

  #show(watch: Watch, name: string, stored: StoredRecord | undefined): void {
    if (stored) watch.known.add(name);
    else watch.known.delete(name);
    watch.see(name, stored);
  }

  #send<T>(process: SimulatedProcess, operation: () => T): Promise<T> {
    this.requests.set(process, (this.requests.get(process) ?? 0) + 1);
    const isLost = (): boolean => process.isCutOff || this.#random() < this.badShare / 2;
    return new Promise((resolve, reject) => {
      this.#truth.schedule(this.#delayMs(), () => {
        if (isLost()) return;
        let settle: () => void;
        try {
          const result = operation();
          settle = () => resolve(result);
        } catch (error) {
          settle = () => reject(error);
        }
        if (isLost()) return;
        this.#truth.schedule(this.#delayMs(), () => process.run(settle));
      });
    });
  }

  #delayMs(): number {
    return 1 + this.#random() * (this.#random() < this.badShare ? SLOW_MS : FAST_MS);
  }
}

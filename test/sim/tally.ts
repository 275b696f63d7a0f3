/** The sum of many runs: passed, failed, invalid, and the number of runs with each fault. */
import type { Life } from './life.ts';
import { FAULTS } from './fault-schedule.ts';
import type { Fault } from './fault-schedule.ts';

/** With more invalid seeds than this, the simulator itself is at fault. */
const INVALID_SHARE_MAX = 0.05;

export class Tally {
  passed = 0;
  failed = 0;
  invalid = 0;
  #writes = 0;
  #notifications = 0;
  #virtualMs = 0;
  readonly #startMs: number = performance.now();
  readonly #seeds: Map<Fault, number> = new Map();

  add(life: Life): void {
    if (life.violations.length > 0) this.failed++;
    else if (life.invalid !== undefined) this.invalid++;
    else this.passed++;
    this.#writes += life.writes;
    this.#notifications += life.histories.delivered.length;
    this.#virtualMs += life.virtualMs;
    for (const fault of life.landed.keys()) this.#seeds.set(fault, (this.#seeds.get(fault) ?? 0) + 1);
  }

  get isMeaningful(): boolean {
    return this.invalid <= Math.max(1, this.#total * INVALID_SHARE_MAX);
  }

  /** Number of seeds in which each fault struck. */
  table(): string {
    const rows = FAULTS.map((fault) => `${String(this.#seeds.get(fault) ?? 0).padStart(6)}  ${fault}`);
    return ['seeds with', ...rows].join('\n');
  }

  summary(): string {
    const seconds = (performance.now() - this.#startMs) / 1000;
    const rate = (this.#total / seconds).toFixed(1);
    const hours = (this.#virtualMs / 3_600_000).toFixed(1);
    return (
      `${this.#writes} writes, ${this.#notifications} notifications, ${hours} simulated hours in ${seconds.toFixed(1)} s ` +
      `(${rate} seeds/s), ${this.invalid} invalid\n${this.passed} passed, ${this.failed} failed`
    );
  }

  get #total(): number {
    return this.passed + this.failed + this.invalid;
  }
}

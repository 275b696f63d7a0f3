/** Who waits for the figures of which thread: a thread that dies is not the end of the question. */
import type { KubeloomError } from '../errors.ts';
import type { Role } from './backend.ts';
import type { ThreadStats } from './protocol.ts';

export interface RoleStats extends ThreadStats {
  /** `reflector`, `shard 0` …, `main`. Its figures are those of the thread that runs now. */
  readonly role: string;
  /** Threads of this role so far, this one included. */
  readonly incarnation: number;
  /** Times that one ended and was replaced. */
  readonly restarts: number;
}

interface Waiter {
  readonly resolve: (stats: RoleStats) => void;
  readonly reject: (error: KubeloomError) => void;
}

export class StatsWaiters {
  readonly #waiters: Map<Role, Waiter[]> = new Map();

  wait(role: Role): Promise<RoleStats> {
    return new Promise((resolve, reject) => {
      this.#waiters.set(role, [...(this.#waiters.get(role) ?? []), { resolve, reject }]);
    });
  }

  has(role: Role): boolean {
    return this.#waiters.has(role);
  }

  answer(role: Role, stats: RoleStats): void {
    for (const { resolve } of this.#waiters.get(role) ?? []) resolve(stats);
    this.#waiters.delete(role);
  }

  fail(error: KubeloomError): void {
    for (const { reject } of [...this.#waiters.values()].flat()) reject(error);
    this.#waiters.clear();
  }
}

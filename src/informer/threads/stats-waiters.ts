/** Callers that wait for a thread's figures. They keep waiting when the thread dies: its successor answers. */
import type { KubeloomError } from '../../base/errors.ts';
import type { Role } from './backend.ts';
import type { ThreadStats } from '../../shared/protocol.ts';

export interface RoleStats extends ThreadStats {
  /** `reflector`, `shard 0` …, `main`. The figures are those of the current thread. */
  readonly role: string;
  /** Number of threads of this role so far, the current one included. */
  readonly incarnation: number;
  /** Times that a thread of this role was replaced. */
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

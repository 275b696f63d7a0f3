/**
 * Supervision of reflector and shards: checks their heartbeats, terminates a stalled thread, waits until the thread's
 * finished records are merged, and starts a successor. The rules are in `supervisor-step.ts`.
 *
 * The supervisor runs on the main thread, which holds the merged state. So it cannot act while the main thread is
 * blocked, when records are not merged either.
 */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { roleName } from './backend.ts';
import type { Role } from './backend.ts';
import { FIRST_THREAD, heartbeatMsOf, stepThread } from './supervisor-step.ts';
import type {
  SupervisorLimits,
  ThreadEffect,
  ThreadEvent,
  ThreadHistory,
  ThreadState,
} from './supervisor-step.ts';

/** A thread, as the supervisor uses it. */
export interface Supervised {
  readonly role: Role;
  /** Terminates the thread; resolves after the end. */
  end(): Promise<void>;
  /** Returns whether all records that the thread finished are merged. */
  isDrained(): boolean;
  /** Returns the sequence that the thread was processing when it ended, if any. */
  unfinished(): number | undefined;
  /** Whether the thread took over the predecessor's state; true for a first thread. */
  readonly hasResumed: boolean;
  /**
   * Starts a successor.
   *
   * @param quarantined a record whose bytes the successor must not read
   */
  replace(quarantined: number | undefined): void;
  /** Sends the successor a part of the predecessor's state; returns true while there is more. */
  seed(): boolean;
  /** Whether `seed` has no more to send, now or after later merges. */
  readonly isSeeded: boolean;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly limits: SupervisorLimits;
  readonly threads: readonly Supervised[];
  /** Returns a number that changes while the thread works, or undefined when it runs on the calling thread. */
  readonly heartbeat: (role: Role) => number | undefined;
  /** Called at every tick, after the heartbeats were read. */
  readonly ticked: () => void;
  /** Reports that a thread was replaced; all informers continue. */
  readonly restarted: (error: KubeloomError, role: Role) => void;
  /** Reports that threads will not be replaced any longer, and that deliveries end. */
  readonly failed: (error: KubeloomError) => void;
  /**
   * Called with true when a recovery begins, after which every turn of the main loop must call `work`, and with false
   * when none is left.
   */
  readonly recovering: (isRecovering: boolean) => void;
  readonly wake: () => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #states: Map<Role, ThreadState> = new Map();
  readonly #tickMs: number;
  #tickedMs: number;
  #cancelTick: () => void = () => undefined;
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#tickMs = heartbeatMsOf(options.limits.stallTimeoutMs);
    this.#tickedMs = options.clock.now();
    for (const { role } of options.threads) this.#states.set(role, FIRST_THREAD);
    this.#tickLater();
  }

  historyOf(role: Role): ThreadHistory | undefined {
    return this.#states.get(role)?.history;
  }

  died(role: Role, cause: unknown): void {
    const thread = this.#options.threads.find((candidate) => candidate.role === role);
    if (thread) this.#happened(thread, { type: 'died', cause });
  }

  /** Continues the recoveries under way as far as possible now. Returns true when there is more to do at once. */
  work(): boolean {
    let hasMore = false;
    let isRecovering = false;
    for (const thread of this.#options.threads) {
      if (this.#states.get(thread.role)?.kind === 'draining' && thread.isDrained()) {
        const nowMs = this.#options.clock.now();
        const heartbeat = this.#options.heartbeat(thread.role) ?? 0;
        const { hasResumed } = thread;
        const unfinished = thread.unfinished();
        this.#happened(thread, { type: 'drained', nowMs, unfinished, heartbeat, hasResumed });
      }
      hasMore = thread.seed() || hasMore;
      isRecovering ||= this.#states.get(thread.role)?.kind !== 'running' || !thread.isSeeded;
    }
    if (!isRecovering) this.#options.recovering(false);
    return hasMore && !this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
    this.#options.recovering(false);
  }

  #tickLater(): void {
    const { clock, threads, heartbeat } = this.#options;
    // Roles on the calling thread cannot stall unless the thread stalls.
    if (threads.every(({ role }) => heartbeat(role) === undefined)) return;
    this.#cancelTick = clock.schedule(this.#tickMs, () => this.#tick());
  }

  #tick(): void {
    const { clock, threads, heartbeat, ticked } = this.#options;
    // A later tick shows that the main thread or the process was held up, not the other threads.
    const elapsedMs = Math.min(clock.now() - this.#tickedMs, this.#tickMs);
    this.#tickedMs = clock.now();
    for (const thread of threads) {
      this.#happened(thread, { type: 'tick', elapsedMs, heartbeat: heartbeat(thread.role) });
    }
    if (this.#isClosed) return;
    ticked();
    this.#tickLater();
  }

  #happened(thread: Supervised, event: ThreadEvent): void {
    const before = this.#states.get(thread.role);
    if (this.#isClosed || !before) return;
    const { state, effect } = stepThread(before, event, this.#options.limits);
    this.#states.set(thread.role, state);
    if (effect) this.#perform(thread, effect);
  }

  #perform(thread: Supervised, effect: ThreadEffect): void {
    const { restarted, failed, recovering, wake } = this.#options;
    switch (effect.type) {
      case 'end':
        recovering(true);
        void thread.end().then(() => {
          this.#happened(thread, { type: 'ended' });
          wake();
        });
        break;
      case 'replace':
        thread.replace(effect.quarantined);
        restarted(restartedError(thread.role, effect.cause), thread.role);
        wake();
        break;
      default:
        this.close();
        failed(failedError(thread.role, effect, this.#options.limits));
    }
  }
}

function restartedError(role: Role, cause: unknown): KubeloomError {
  const message =
    `the ${roleName(role)} thread ended: ${textOf(cause)}. A successor has replaced it; no change is lost or delivered ` +
    'twice. If this happens again, look for the cause in your modules or in the memory limit';
  return new KubeloomError('ERR_KUBELOOM_THREAD_RESTARTED', message, { cause });
}

function failedError(
  role: Role,
  { cause, why }: Extract<ThreadEffect, { type: 'give-up' }>,
  { restartsMax, restartWindowMs }: SupervisorLimits,
): KubeloomError {
  const reason =
    why === 'does-not-end'
      ? 'it does not end after it was terminated'
      : `it was replaced ${restartsMax} times within ${restartWindowMs} ms (restartsMax, restartWindowMs)`;
  const message =
    `the ${roleName(role)} thread ended: ${textOf(cause)}; ${reason}, so the informers of these threads have ` +
    'ended, and their caches are no longer updated';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

/** Returns the error for shared memory with contents that no thread writes. Later records cannot be trusted either. */
export function brokenError(cause: KubeloomError): KubeloomError {
  const message =
    `a shard thread wrote an impossible record: ${cause.message}. Memory was damaged, or this is a defect of kubeloom; ` +
    'the informers of these threads have ended, and their caches are no longer updated';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

function textOf(cause: unknown): string {
  return messageOf(cause);
}

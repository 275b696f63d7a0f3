/**
 * Supervision of reflector and shards: checks their heartbeats, and when a thread dies or stalls, ends all of them and
 * lets new ones begin with a list. The rules are in `supervisor-step.ts`.
 *
 * The supervisor runs on the main thread. So it cannot act while the main thread is blocked, when records are not merged
 * either.
 */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { roleName } from './backend.ts';
import type { Role } from './backend.ts';
import { firstThreads, heartbeatMsOf, stepThreads } from './supervisor-step.ts';
import type {
  Death,
  SupervisorLimits,
  ThreadSigns,
  ThreadsEffect,
  ThreadsEvent,
  ThreadsState,
} from './supervisor-step.ts';

/** An informer that ends because threads ended only while they worked for it. */
export interface Culprit {
  readonly informer: number;
  readonly error: KubeloomError;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly limits: SupervisorLimits;
  /** Returns the signs of the threads, without the roles on the calling thread. */
  readonly signs: () => ThreadSigns;
  /** Called at every tick, after the signs were read. */
  readonly ticked: () => void;
  /** Terminates all threads; resolves after their end. */
  readonly end: () => Promise<void>;
  /** Starts new threads. All informers continue, except for the culprit. */
  readonly restart: (error: KubeloomError, role: Role, culprit: Culprit | undefined) => void;
  /** Reports that threads will not be restarted any longer, and that deliveries end. */
  readonly failed: (error: KubeloomError) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #state: ThreadsState;
  readonly #restarts: Map<Role, number> = new Map();
  readonly #tickMs: number;
  #tickedMs: number;
  #cancelTick: () => void = () => undefined;
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    const { clock, limits, signs } = options;
    this.#options = options;
    this.#tickMs = heartbeatMsOf(limits.stallTimeoutMs);
    this.#tickedMs = clock.now();
    this.#state = firstThreads(signs());
    this.#tickLater();
  }

  /** Returns how often the end of a thread with this role has restarted the threads. */
  restartsOf(role: Role): number {
    return this.#restarts.get(role) ?? 0;
  }

  /** Supervises worker threads that take over from the calling thread. */
  began(): void {
    this.#tickedMs = this.#options.clock.now();
    this.#happened({ type: 'began', signs: this.#options.signs() });
    this.#tickLater();
  }

  died(death: Death): void {
    this.#happened({ type: 'died', death });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
  }

  #tickLater(): void {
    const { clock, signs } = this.#options;
    // Roles on the calling thread cannot stall unless the thread stalls.
    if (signs().size > 0) this.#cancelTick = clock.schedule(this.#tickMs, () => this.#tick());
  }

  #tick(): void {
    const { clock, signs, ticked } = this.#options;
    // A later tick shows that the main thread or the process was held up, not the other threads.
    const elapsedMs = Math.min(clock.now() - this.#tickedMs, this.#tickMs);
    this.#tickedMs = clock.now();
    this.#happened({ type: 'tick', elapsedMs, signs: signs() });
    if (this.#isClosed) return;
    ticked();
    this.#tickLater();
  }

  #happened(event: ThreadsEvent): void {
    if (this.#isClosed) return;
    const { state, effect } = stepThreads(this.#state, event, this.#options.limits);
    this.#state = state;
    if (effect) this.#perform(effect);
  }

  #perform(effect: ThreadsEffect): void {
    const { clock, limits, signs, end, restart, failed } = this.#options;
    switch (effect.type) {
      case 'end':
        void end().then(() => this.#happened({ type: 'ended', nowMs: clock.now(), signs: signs() }));
        break;
      case 'restart': {
        const { death, culprit: informer } = effect;
        this.#restarts.set(death.role, this.restartsOf(death.role) + 1);
        const culprit = informer === 0 ? undefined : { informer, error: culpritError(death, limits) };
        restart(restartedError(death), death.role, culprit);
        break;
      }
      default:
        this.close();
        failed(failedError(effect, limits));
    }
  }
}

function restartedError({ role, cause }: Death): KubeloomError {
  const message =
    `the ${roleName(role)} thread ended: ${messageOf(cause)}. New threads list again and bring the caches up to date. ` +
    'If this happens again, look for the cause in your modules or in the memory limit';
  return new KubeloomError('ERR_KUBELOOM_THREAD_RESTARTED', message, { cause });
}

function culpritError({ role, cause }: Death, limits: SupervisorLimits): KubeloomError {
  const message =
    `the ${roleName(role)} thread ended while it worked on an object of this informer: ${messageOf(cause)}; ` +
    `${tooOften(limits)}, each time at such an object, so this informer has ended, and its cache is no longer ` +
    'updated. Check its modules: they may not exit, loop for ever or take all memory';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

function failedError(
  { death: { role, cause }, why }: Extract<ThreadsEffect, { type: 'give-up' }>,
  limits: SupervisorLimits,
): KubeloomError {
  const reason = why === 'does-not-end' ? 'it does not end after it was terminated' : tooOften(limits);
  const message =
    `the ${roleName(role)} thread ended: ${messageOf(cause)}; ${reason}, so the informers of these threads have ` +
    'ended, and their caches are no longer updated';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

function tooOften({ restartsMax, restartWindowMs }: SupervisorLimits): string {
  return `the threads were restarted ${restartsMax} times within ${restartWindowMs} ms (restartsMax, restartWindowMs)`;
}

/**
 * Sees to it that reflector and shards run: looks whether they move, ends what does not, waits until all that a dead
 * thread had finished is merged, and has a successor started. The rules are in `supervisor-step.ts`.
 *
 * It runs on the main thread, which holds the truth: what is merged. So it can stop no thread while the main thread
 * is blocked; nothing is merged then either.
 */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { roleName } from './backend.ts';
import type { Role } from './backend.ts';
import { FIRST_THREAD, stepThread } from './supervisor-step.ts';
import type {
  SupervisorLimits,
  ThreadEffect,
  ThreadEvent,
  ThreadHistory,
  ThreadState,
} from './supervisor-step.ts';

/** One thread as its supervisor sees it. */
export interface Supervised {
  readonly role: Role;
  /** Changes while it works; undefined when it cannot stop without this thread. */
  heartbeat(): number | undefined;
  /** Ends it by force; resolves when it is gone. */
  end(): Promise<void>;
  /** Whether all that it had finished is merged. */
  isDrained(): boolean;
  /** The sequence that it was working on when it ended, if any. */
  unfinished(): number | undefined;
  /** Starts a successor. @param poison a record that it must not look into */
  replace(poison: number | undefined): void;
  /** Tells the successor a little of what it must know; true while there is more. */
  seed(): boolean;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly limits: SupervisorLimits;
  readonly threads: readonly Supervised[];
  /** A thread was replaced; everything goes on. */
  readonly restarted: (error: KubeloomError) => void;
  /** Nothing will come any more. */
  readonly failed: (error: KubeloomError) => void;
  /** Asks for a turn of the main thread's loop, and so for `work`. */
  readonly kick: () => void;
}

const TICK_MS = 250;
/** A tick that comes later says that this thread was held up, or the whole process: not that others were. */
const TICK_MAX_MS: number = 2 * TICK_MS;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #states: Map<Role, ThreadState> = new Map();
  #tickedMs: number;
  #cancelTick: () => void = () => undefined;
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#tickedMs = options.clock.now();
    for (const { role } of options.threads) this.#states.set(role, FIRST_THREAD);
    this.#tickLater();
  }

  historyOf(role: Role): ThreadHistory | undefined {
    return this.#states.get(role)?.history;
  }

  /** Not running: nothing that is sent to it arrives, its successor is told. */
  isDown(role: Role): boolean {
    return this.#states.get(role)?.kind !== 'running';
  }

  died(role: Role, cause: unknown): void {
    const thread = this.#options.threads.find((candidate) => candidate.role === role);
    if (thread) this.#happened(thread, { type: 'died', cause });
  }

  /** What can be done now; called with every turn of the main thread's loop. True when there is more. */
  work(): boolean {
    if (this.#isClosed) return false;
    let hasMore = false;
    for (const thread of this.#options.threads) {
      if (this.#states.get(thread.role)?.kind === 'draining' && thread.isDrained()) {
        const nowMs = this.#options.clock.now();
        const heartbeat = thread.heartbeat() ?? 0;
        this.#happened(thread, { type: 'drained', nowMs, unfinished: thread.unfinished(), heartbeat });
      }
      hasMore = thread.seed() || hasMore;
    }
    return hasMore;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
  }

  #tickLater(): void {
    this.#cancelTick = this.#options.clock.schedule(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const { clock, threads } = this.#options;
    const elapsedMs = Math.min(clock.now() - this.#tickedMs, TICK_MAX_MS);
    this.#tickedMs = clock.now();
    for (const thread of threads) {
      this.#happened(thread, { type: 'tick', elapsedMs, heartbeat: thread.heartbeat() });
    }
    if (!this.#isClosed) this.#tickLater();
  }

  #happened(thread: Supervised, event: ThreadEvent): void {
    const before = this.#states.get(thread.role);
    if (this.#isClosed || !before) return;
    const { state, effect } = stepThread(before, event, this.#options.limits);
    this.#states.set(thread.role, state);
    if (effect) this.#perform(thread, effect);
  }

  #perform(thread: Supervised, effect: ThreadEffect): void {
    const { restarted, failed, kick } = this.#options;
    switch (effect.type) {
      case 'end':
        void thread.end().then(() => {
          this.#happened(thread, { type: 'ended' });
          kick();
        });
        break;
      case 'replace':
        thread.replace(effect.poison);
        restarted(restartedError(thread.role, effect.cause));
        kick();
        break;
      default:
        this.close();
        failed(failedError(thread.role, effect, this.#options.limits));
    }
  }
}

function restartedError(role: Role, cause: unknown): KubeloomError {
  const message =
    `the ${roleName(role)} thread ended: ${textOf(cause)}. Another one has taken its place, and no change is lost ` +
    'or told twice; if this comes again, look for what ends it: modules of yours, or memory';
  return new KubeloomError('ERR_KUBELOOM_THREAD_RESTARTED', message, { cause });
}

function failedError(
  role: Role,
  { cause, why }: Extract<ThreadEffect, { type: 'give-up' }>,
  { restartsMax, restartWindowMs }: SupervisorLimits,
): KubeloomError {
  const reason =
    why === 'does-not-end'
      ? 'it cannot be ended'
      : `it was replaced ${restartsMax} times within ${restartWindowMs} ms (restartsMax, restartWindowMs)`;
  const message =
    `the ${roleName(role)} thread ended: ${textOf(cause)}; ${reason}, so the informers of these threads have ` +
    'ended and their caches are not kept up to date any more';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

/** Of memory that holds what no thread writes: nothing that is merged after that could be trusted. */
export function brokenError(cause: KubeloomError): KubeloomError {
  const message =
    `what a shard thread wrote cannot be: ${cause.message}. Memory was damaged, or this is a defect of kubeloom; ` +
    'the informers of these threads have ended and their caches are not kept up to date any more';
  return new KubeloomError('ERR_KUBELOOM_THREAD', message, { cause });
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** An elector on a lock in memory and a clock that the test moves. */
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import type { KubeloomError } from '../../../../src/index.ts';
import { LeaderElector } from '../../../../src/controller/index.ts';
import type { ElectionOptions, LeaderElectionRecord, OnLeading } from '../../../../src/controller/index.ts';
import { MemoryLease, MemoryLock } from './memory-lock.ts';
import { setImmediate as turn } from 'node:timers/promises';

export { turn };

const RETRY_MS = 2000;

export class Scene implements Disposable {
  readonly fake: FakeClock = new FakeClock();
  readonly lease: MemoryLease;
  readonly lock: MemoryLock;
  readonly elector: LeaderElector;
  readonly errors: KubeloomError[] = [];
  readonly leaders: string[] = [];
  readonly stop: AbortController = new AbortController();
  /** Signal of the last work. */
  leaderSignal: AbortSignal | undefined;
  /** The time of the process ahead of its timers, as after a suspension. */
  aheadMs = 0;

  constructor(
    identity: string = 'me',
    options: ElectionOptions = {},
    lease: MemoryLease = new MemoryLease(),
  ) {
    this.lease = lease;
    this.lock = new MemoryLock(lease, identity);
    const clock = {
      now: (): number => this.fake.now() + this.aheadMs,
      schedule: (delayMs: number, callback: () => void): (() => void) =>
        this.fake.schedule(delayMs, callback),
    };
    this.elector = new LeaderElector({
      lock: this.lock,
      clock,
      onError: (error) => this.errors.push(error),
      onNewLeader: (leader) => this.leaders.push(leader),
      ...options,
    });
  }

  [Symbol.dispose](): void {
    this.stop.abort();
  }

  get record(): LeaderElectionRecord | undefined {
    return this.lease.stored?.record;
  }

  /** Starts the election; by default, the work ends with its signal. */
  async start(work: OnLeading = aborted): Promise<{ readonly run: Promise<string> }> {
    const run = this.elector
      .run({ signal: this.stop.signal }, (signal, fence) => {
        this.leaderSignal = signal;
        return work(signal, fence);
      })
      .then(
        () => 'resolved',
        (error: unknown) => String((error as Partial<KubeloomError>).code ?? error),
      );
    await turn();
    return { run };
  }

  /** Moves the clock in steps that let answers arrive. */
  async advance(byMs: number): Promise<void> {
    for (let restMs = byMs; restMs > 0; restMs -= RETRY_MS / 4) {
      this.fake.advance(Math.min(restMs, RETRY_MS / 4));
      await turn();
    }
  }
}

/** Work that ends when its signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

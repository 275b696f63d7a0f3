/** The supervisor with threads that this test plays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeloomError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { Supervisor } from '../../../src/informer/threads/supervisor.ts';
import type { Supervised } from '../../../src/informer/threads/supervisor.ts';
import { heartbeatMsOf } from '../../../src/informer/threads/supervisor-step.ts';

const LIMITS = { stallTimeoutMs: 5000, restartsMax: 3, restartWindowMs: 60_000 };

class Thread implements Supervised {
  readonly role: number;
  readonly hasResumed = true;
  readonly isSeeded = true;
  beats = 0;
  canDrain = true;
  readonly calls: string[] = [];

  constructor(role: number) {
    this.role = role;
  }

  end(): Promise<void> {
    this.calls.push('end');
    return Promise.resolve();
  }

  isDrained(): boolean {
    return this.canDrain;
  }

  unfinished(): undefined {
    return undefined;
  }

  replace(): void {
    this.calls.push('replace');
  }

  seed(): boolean {
    return false;
  }
}

class Scene {
  readonly clock: FakeClock = new FakeClock();
  readonly threads: readonly Thread[] = [new Thread(0), new Thread(1)];
  readonly reports: string[] = [];
  /** Effect of a tick after the heartbeats were read. */
  ticked: () => void = () => undefined;
  /** Time for which this process was suspended. */
  stoppedMs = 0;
  readonly supervisor: Supervisor = new Supervisor({
    clock: {
      now: () => this.clock.now() + this.stoppedMs,
      schedule: (delayMs, callback) => this.clock.schedule(delayMs, callback),
    },
    limits: LIMITS,
    threads: this.threads,
    heartbeat: (role) => this.threads[Number(role)]?.beats,
    ticked: () => this.ticked(),
    restarted: (error) => this.reports.push(codeOf(error)),
    failed: (error) => this.reports.push(codeOf(error)),
    recovering: () => undefined,
    wake: () => undefined,
  });

  /** Lets time pass; all threads but one beat. */
  pass(ms: number, silent?: Thread): void {
    for (let passed = 0; passed < ms; passed += 250) {
      for (const thread of this.threads) if (thread !== silent) thread.beats++;
      this.clock.advance(250);
    }
  }

  async work(): Promise<void> {
    await new Promise(setImmediate);
    this.supervisor.work();
  }
}

function codeOf(error: KubeloomError): string {
  return error.code;
}

test('a silent thread is terminated after the timeout, and replaced within a second of that', async () => {
  const scene = new Scene();
  const [first] = scene.threads;
  assert.ok(first);
  scene.pass(1000);
  scene.pass(4750, first);
  assert.deepEqual(first.calls, []);
  scene.pass(500, first);
  await scene.work();
  assert.deepEqual(first.calls, ['end', 'replace']);
  assert.deepEqual(scene.threads[1]?.calls, []);
  assert.deepEqual(scene.reports, ['ERR_KUBELOOM_THREAD_RESTARTED']);
  scene.supervisor.close();
});

test('C173 a thread that only answers at each tick stays, and one that ceases to answer is found within two more ticks', async () => {
  const scene = new Scene();
  const [first, second] = scene.threads;
  assert.ok(first && second);
  let isStalled = false;
  scene.ticked = () => {
    second.beats++;
    if (!isStalled) first.beats++;
  };
  scene.clock.advance(60_000);
  assert.deepEqual([first.calls, second.calls], [[], []]);
  isStalled = true;
  scene.clock.advance(LIMITS.stallTimeoutMs + 2 * heartbeatMsOf(LIMITS.stallTimeoutMs));
  assert.deepEqual([first.calls, second.calls], [['end'], []]);
  scene.supervisor.close();
});

test('a supervisor of roles on the calling thread needs no timer', () => {
  const clock = new FakeClock();
  const nothing = (): undefined => undefined;
  const supervisor = new Supervisor({
    clock,
    limits: LIMITS,
    threads: [new Thread(0)],
    heartbeat: nothing,
    ticked: nothing,
    restarted: nothing,
    failed: nothing,
    recovering: nothing,
    wake: nothing,
  });
  assert.equal(clock.pending, 0);
  supervisor.close();
});

test('C177 no thread counts as stalled after the process was suspended for an hour', () => {
  const scene = new Scene();
  const tickMs = heartbeatMsOf(LIMITS.stallTimeoutMs);
  for (let hours = 0; hours < 5; hours++) {
    scene.pass(tickMs);
    scene.stoppedMs += 3_600_000;
    // Threads continue later than the timer of the main thread.
    scene.clock.advance(tickMs);
  }
  assert.deepEqual(
    scene.threads.map(({ calls }) => calls),
    [[], []],
  );
  scene.supervisor.close();
});

test('a thread is replaced only after everything that it had finished is merged', async () => {
  const scene = new Scene();
  const [first] = scene.threads;
  assert.ok(first);
  first.canDrain = false;
  scene.supervisor.died(0, new Error('it threw'));
  await scene.work();
  assert.deepEqual(first.calls, ['end']);
  first.canDrain = true;
  await scene.work();
  assert.deepEqual(first.calls, ['end', 'replace']);
  scene.supervisor.close();
});

test('a thread that dies too often ends the informers with one report, and no thread is replaced after that', async () => {
  const scene = new Scene();
  for (let deaths = 0; deaths < 6; deaths++) {
    scene.supervisor.died(0, new Error('it threw'));
    await scene.work();
  }
  assert.deepEqual(scene.reports, [
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD_RESTARTED',
    'ERR_KUBELOOM_THREAD',
  ]);
});

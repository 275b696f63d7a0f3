/** The supervisor with threads that this test plays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import { Supervisor } from '../../../src/informer/threads/supervisor.ts';
import { heartbeatMsOf } from '../../../src/informer/threads/supervisor-step.ts';
import type { ThreadSigns } from '../../../src/informer/threads/supervisor-step.ts';
import { turns } from '../../kit/scene.ts';

const LIMITS = { stallTimeoutMs: 5000, restartsMax: 3, restartWindowMs: 60_000 };
const ROLES = [0, 1] as const;
const INFORMER = 5;

class Scene {
  readonly clock: FakeClock = new FakeClock();
  /** Heartbeats by role. */
  readonly beats: [number, number] = [0, 0];
  /** Requests and reports, in order. */
  readonly calls: string[] = [];
  /** Effect of a tick after the signs were read. */
  ticked: () => void = () => undefined;
  /** Time for which this process was suspended. */
  stoppedMs = 0;
  readonly supervisor: Supervisor = new Supervisor({
    clock: {
      now: () => this.clock.now() + this.stoppedMs,
      schedule: (delayMs, callback) => this.clock.schedule(delayMs, callback),
    },
    limits: LIMITS,
    signs: () => this.#signs(),
    ticked: () => this.ticked(),
    end: () => {
      this.calls.push('end');
      return Promise.resolve();
    },
    restart: (error, role, culprit) => {
      const ended = culprit ? `, ${culprit.informer} ends ${culprit.error.code}` : '';
      this.calls.push(`restart after ${role} ${error.code}${ended}`);
    },
    failed: (error) => this.calls.push(error.code),
  });

  /** Lets time pass; all threads but one beat. */
  pass(ms: number, silent?: number): void {
    for (let passed = 0; passed < ms; passed += 250) {
      for (const role of ROLES) if (role !== silent) this.beats[role]++;
      this.clock.advance(250);
    }
  }

  async die(informer = 0): Promise<void> {
    this.pass(2 * heartbeatMsOf(LIMITS.stallTimeoutMs));
    this.supervisor.died({ role: 0, cause: new Error('it threw'), informer });
    await turns(1);
  }

  #signs(): ThreadSigns {
    return new Map(ROLES.map((role) => [role, { heartbeat: this.beats[role], informer: INFORMER }]));
  }
}

const RESTART = 'restart after 0 ERR_KUBELOOM_THREAD_RESTARTED';
const RESTARTED = ['end', RESTART];

test('a silent thread is found after the timeout, and new threads begin within a second of that', async () => {
  const scene = new Scene();
  scene.pass(1000);
  scene.pass(4750, 0);
  assert.deepEqual(scene.calls, []);
  scene.pass(1250, 0);
  await turns(1);
  assert.deepEqual(scene.calls, RESTARTED);
  assert.deepEqual([scene.supervisor.restartsOf(0), scene.supervisor.restartsOf(1)], [1, 0]);
  scene.supervisor.close();
});

test('C173 a thread that only answers at each tick stays, and one that ceases to answer is found within two more ticks', () => {
  const scene = new Scene();
  let isStalled = false;
  scene.ticked = () => {
    scene.beats[1]++;
    if (!isStalled) scene.beats[0]++;
  };
  scene.clock.advance(60_000);
  assert.deepEqual(scene.calls, []);
  isStalled = true;
  scene.clock.advance(LIMITS.stallTimeoutMs + 2 * heartbeatMsOf(LIMITS.stallTimeoutMs));
  assert.deepEqual(scene.calls, ['end']);
  scene.supervisor.close();
});

test('a supervisor of roles on the calling thread needs no timer', () => {
  const clock = new FakeClock();
  const nothing = (): undefined => undefined;
  const end = (): Promise<void> => Promise.resolve();
  const options = { signs: () => new Map(), ticked: nothing, end, restart: nothing, failed: nothing };
  const supervisor = new Supervisor({ clock, limits: LIMITS, ...options });
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
  assert.deepEqual(scene.calls, []);
  scene.supervisor.close();
});

test('threads that die too often end the informers with one report, and no thread begins after that', async () => {
  const scene = new Scene();
  for (let deaths = 0; deaths < 6; deaths++) await scene.die();
  assert.deepEqual(scene.calls, [...RESTARTED, ...RESTARTED, ...RESTARTED, 'end', 'ERR_KUBELOOM_THREAD']);
});

test('C175 threads that die too often at the records of one informer end this informer', async () => {
  const scene = new Scene();
  for (let deaths = 0; deaths < 5; deaths++) await scene.die(INFORMER);
  const culprit = ['end', `${RESTART}, ${INFORMER} ends ERR_KUBELOOM_THREAD`];
  assert.deepEqual(scene.calls, [...RESTARTED, ...RESTARTED, ...RESTARTED, ...culprit, ...RESTARTED]);
  scene.supervisor.close();
});

/** The rules of the supervisor, as a table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  END_TIMEOUT_MS,
  START_TIMEOUT_MS,
  StallError,
  firstThreads,
  heartbeatMsOf,
  stepThreads,
} from '../../../src/informer/threads/supervisor-step.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import type {
  Death,
  SupervisorLimits,
  ThreadSign,
  ThreadSigns,
  ThreadsEffect,
  ThreadsEvent,
  ThreadsState,
} from '../../../src/informer/threads/supervisor-step.ts';

const LIMITS: SupervisorLimits = { stallTimeoutMs: 5000, restartsMax: 2, restartWindowMs: 60_000 };
const TICK_MS = 250;

/** The signs of a shard, which works for informer 5, and of the reflector. */
function signs(shard: number, reflector: number): ThreadSigns {
  return new Map<Role, ThreadSign>([
    [0, { heartbeat: shard, informer: 5 }],
    ['reflector', { heartbeat: reflector, informer: 0 }],
  ]);
}

function tick(shard: number, reflector: number): ThreadsEvent {
  return { type: 'tick', elapsedMs: TICK_MS, signs: signs(shard, reflector) };
}

/** Returns ticks over this time in which only the reflector, or nothing, shows a new sign. */
function quiet(ms: number, { from = 0, shard = 0, isReflectorUp = true } = {}): ThreadsEvent[] {
  return Array.from({ length: ms / TICK_MS }, (_, at) => tick(shard, from + (isReflectorUp ? at + 1 : 0)));
}

function died(informer = 0): ThreadsEvent {
  return { type: 'died', death: deathFor(informer) };
}

function deathFor(informer: number): Death {
  return { role: 0, cause: 'it threw', informer };
}

function ended(nowMs: number): ThreadsEvent {
  return { type: 'ended', nowMs, signs: signs(7, 7) };
}

const UP: ThreadsEvent = tick(8, 8);

/** Returns a death of threads that had come up, and their end. */
function lost(nowMs: number, informer = 0): ThreadsEvent[] {
  return [UP, died(informer), ended(nowMs)];
}

/** Returns the last state and all effects. */
function run(
  events: readonly ThreadsEvent[],
  limits: SupervisorLimits = LIMITS,
): { state: ThreadsState; effects: ThreadsEffect[] } {
  let state = firstThreads(signs(0, 0));
  const effects: ThreadsEffect[] = [];
  for (const event of events) {
    const step = stepThreads(state, event, limits);
    state = step.state;
    if (step.effect) effects.push(step.effect);
  }
  return { state, effects };
}

function kindsOf(events: readonly ThreadsEvent[], limits?: SupervisorLimits): string[] {
  return run(events, limits).effects.map((effect) =>
    effect.type === 'give-up' ? effect.why : effect.type === 'restart' ? `restart ${effect.culprit}` : 'end',
  );
}

describe('the supervisor of threads', () => {
  test('heartbeats are a quarter of stallTimeoutMs apart, and never more than 1,250 ms', () => {
    assert.deepEqual([1000, 5000, 3_600_000].map(heartbeatMsOf), [250, 1250, 1250]);
  });

  test('a thread that died ends all threads, and then new threads begin', () => {
    assert.deepEqual(run([died()]).effects, [{ type: 'end' }]);
    const { state, effects } = run(lost(10));
    assert.equal(state.kind, 'running');
    assert.deepEqual(effects, [{ type: 'end' }, { type: 'restart', death: deathFor(0), culprit: 0 }]);
  });

  test('a thread whose heartbeat changes stays, however rarely it changes', () => {
    const rarely = Array.from({ length: 50 }, (_, beat) => [
      ...quiet(4750, { from: beat * 100, shard: beat }),
      tick(beat + 1, beat * 100 + 50),
    ]).flat();
    assert.deepEqual(kindsOf(rarely), []);
  });

  test('a thread without a new heartbeat for stallTimeoutMs dies, of the record that it works on', () => {
    const standing = (ms: number): ThreadsEvent[] => [tick(1, 1), ...quiet(ms, { from: 1, shard: 1 })];
    assert.deepEqual(kindsOf(standing(4750)), []);
    assert.deepEqual(kindsOf(standing(5000)), ['end']);
    const { state } = run(standing(5000));
    assert.ok(state.kind === 'ending' && state.death.cause instanceof StallError);
    assert.deepEqual([state.death.role, state.death.informer], [0, 5]);
  });

  test('a thread without a first heartbeat has more time, because it loads its code', () => {
    assert.deepEqual(kindsOf(quiet(START_TIMEOUT_MS - TICK_MS)), []);
    assert.deepEqual(kindsOf(quiet(START_TIMEOUT_MS)), ['end']);
    // New threads begin with the last values of the threads before.
    const next = (ms: number): ThreadsEvent[] => [...lost(0), ...quiet(ms, { from: 7, shard: 7 })];
    assert.deepEqual(kindsOf(next(START_TIMEOUT_MS - TICK_MS)), ['end', 'restart 0']);
    assert.deepEqual(kindsOf(next(START_TIMEOUT_MS)), ['end', 'restart 0', 'end']);
  });

  test('threads on the calling thread never stall', () => {
    let state = firstThreads(new Map());
    for (let count = 0; count < 1000; count++) {
      const step = stepThreads(state, { type: 'tick', elapsedMs: 60_000, signs: new Map() }, LIMITS);
      assert.equal(step.effect, undefined);
      state = step.state;
    }
  });

  test('threads that do not end after their termination end the informers', () => {
    const { state, effects } = run([died(), ...quiet(END_TIMEOUT_MS)]);
    assert.equal(state.kind, 'given-up');
    assert.deepEqual(effects[1], { type: 'give-up', death: deathFor(0), why: 'does-not-end' });
  });

  test('the threads are restarted at most restartsMax times within the window', () => {
    assert.deepEqual(kindsOf([...lost(0), ...lost(1000), ...lost(59_999)]).at(-1), 'too-often');
    assert.deepEqual(kindsOf([...lost(0), ...lost(1000), ...lost(60_000)]).at(-1), 'restart 0');
    assert.deepEqual(
      kindsOf([...lost(0), ...lost(1000), ...lost(60_000), ...lost(60_999)]).at(-1),
      'too-often',
    );
  });

  test('deaths of threads that had not come up count regardless of the window', () => {
    const inVain = (nowMs: number): ThreadsEvent[] => [died(), ended(nowMs)];
    assert.deepEqual(kindsOf([...lost(0), ...inVain(90_000), ...inVain(180_000)]).at(-1), 'too-often');
  });

  test('no thread is restarted when restartsMax is 0', () => {
    assert.deepEqual(kindsOf(lost(0, 5), { ...LIMITS, restartsMax: 0 }), ['end', 'too-often']);
  });

  test('C175 an informer at whose records all of the deaths were is the culprit, and the count begins anew', () => {
    assert.deepEqual(kindsOf([...lost(0, 5), ...lost(1, 5), ...lost(2, 5)]).at(-1), 'restart 5');
    assert.deepEqual(kindsOf([...lost(0, 5), ...lost(1, 5), ...lost(2, 5), ...lost(3)]).at(-1), 'restart 0');
    for (const informers of [
      [5, 5, 6],
      [6, 5, 5],
      [5, 0, 5],
      [0, 0, 0],
    ]) {
      const deaths = informers.flatMap((informer, atMs) => lost(atMs, informer));
      assert.deepEqual(kindsOf(deaths).at(-1), 'too-often', String(informers));
    }
  });

  test('a supervisor that has given up remains so, and a repeated report of a death has no effect', () => {
    const gone = [...lost(0), ...lost(1), ...lost(2)];
    assert.deepEqual(kindsOf([...gone, died(), UP, ended(3)]), kindsOf(gone));
    assert.deepEqual(kindsOf([died(), died()]), ['end']);
  });
});

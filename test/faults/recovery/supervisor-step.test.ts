/** The rules of the supervisor, as a table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  END_TIMEOUT_MS,
  FIRST_THREAD,
  START_TIMEOUT_MS,
  heartbeatMsOf,
  stepThread,
} from '../../../src/informer/threads/supervisor-step.ts';
import type {
  SupervisorLimits,
  ThreadEffect,
  ThreadEvent,
  ThreadState,
} from '../../../src/informer/threads/supervisor-step.ts';

const LIMITS: SupervisorLimits = { stallTimeoutMs: 5000, restartsMax: 2, restartWindowMs: 60_000 };

const died: ThreadEvent = { type: 'died', cause: 'it threw' };
const ended: ThreadEvent = { type: 'ended' };

function tick(heartbeat: number | undefined, elapsedMs = 250): ThreadEvent {
  return { type: 'tick', elapsedMs, heartbeat };
}

const LAST_BEAT = 7;

function drained(nowMs: number, unfinished?: number, hasResumed = true): ThreadEvent {
  return { type: 'drained', nowMs, unfinished, heartbeat: LAST_BEAT, hasResumed };
}

/** Returns the last state and all effects. */
function run(
  events: readonly ThreadEvent[],
  limits: SupervisorLimits = LIMITS,
): { state: ThreadState; effects: ThreadEffect[] } {
  let state = FIRST_THREAD;
  const effects: ThreadEffect[] = [];
  for (const event of events) {
    const step = stepThread(state, event, limits);
    state = step.state;
    if (step.effect) effects.push(step.effect);
  }
  return { state, effects };
}

/** Returns the events of a death, with the time at which it is drained. */
function death(nowMs: number, unfinished?: number): ThreadEvent[] {
  return [died, ended, drained(nowMs, unfinished)];
}

describe('the supervisor of a thread', () => {
  test('heartbeats are a quarter of stallTimeoutMs apart, and never more than 1,250 ms', () => {
    assert.deepEqual([1000, 5000, 3_600_000].map(heartbeatMsOf), [250, 1250, 1250]);
  });

  test('a thread that died is terminated, drained and then replaced', () => {
    assert.deepEqual(run([died]).effects, [{ type: 'end' }]);
    assert.equal(run([died]).state.kind, 'ending');
    assert.equal(run([died, ended]).state.kind, 'draining');
    const { state, effects } = run(death(10));
    assert.equal(state.kind, 'running');
    assert.deepEqual(effects, [
      { type: 'end' },
      { type: 'replace', cause: 'it threw', quarantined: undefined },
    ]);
    assert.deepEqual(state.history, { restarts: 1, restartsMs: [10], suspect: undefined });
  });

  test('a thread whose heartbeat changes stays, however rarely it changes', () => {
    const events = Array.from({ length: 100 }, (_, beat) => tick(beat, 4999));
    assert.deepEqual(run(events).effects, []);
  });

  test('a thread without a new heartbeat for stallTimeoutMs is terminated', () => {
    const standing = Array.from({ length: 20 }, () => tick(2));
    assert.deepEqual(run([tick(1), tick(2), ...standing.slice(1)]).effects, []);
    assert.deepEqual(run([tick(1), tick(2), ...standing]).effects, [{ type: 'end' }]);
  });

  test('a thread without a first heartbeat has more time, because it loads its code', () => {
    const ticks = START_TIMEOUT_MS / 250;
    const standing = Array.from({ length: ticks - 1 }, () => tick(0));
    assert.deepEqual(run(standing).effects, []);
    assert.deepEqual(run([...standing, tick(0)]).effects, [{ type: 'end' }]);
    // A successor begins with its predecessor's last value.
    const found = standing.map(() => tick(LAST_BEAT));
    assert.equal(run([...death(0), ...found]).effects.length, 2);
    assert.deepEqual(run([...death(0), ...found, tick(LAST_BEAT)]).effects.at(-1), { type: 'end' });
  });

  test('a thread that stalls right after its first heartbeat is terminated after stallTimeoutMs', () => {
    const standing = (beat: number): ThreadEvent[] => Array.from({ length: 20 }, () => tick(beat));
    assert.deepEqual(run([tick(1), ...standing(1).slice(1)]).effects, []);
    assert.deepEqual(run([tick(1), ...standing(1)]).effects, [{ type: 'end' }]);
    const successor = [...death(0), tick(LAST_BEAT), tick(LAST_BEAT + 1)];
    assert.equal(run([...successor, ...standing(LAST_BEAT + 1).slice(1)]).effects.length, 2);
    assert.equal(run([...successor, ...standing(LAST_BEAT + 1)]).effects.length, 3);
  });

  test('a thread on the calling thread never stalls', () => {
    assert.deepEqual(run(Array.from({ length: 1000 }, () => tick(undefined))).effects, []);
  });

  test('a thread that does not end after its termination ends the informers', () => {
    const waiting = Array.from({ length: END_TIMEOUT_MS / 250 }, () => tick(1));
    const { state, effects } = run([died, ...waiting]);
    assert.equal(state.kind, 'given-up');
    assert.deepEqual(effects[1], { type: 'give-up', cause: 'it threw', why: 'does-not-end' });
  });

  test('at most restartsMax threads of a role are replaced within the window', () => {
    const { state, effects } = run([...death(0), ...death(1000), ...death(59_999)]);
    assert.equal(state.kind, 'given-up');
    assert.deepEqual(effects.at(-1), { type: 'give-up', cause: 'it threw', why: 'too-often' });
    const later = run([...death(0), ...death(1000), ...death(60_000)]);
    assert.equal(later.state.kind, 'running');
    assert.equal(later.state.history.restarts, 3);
    assert.deepEqual(later.state.history.restartsMs, [1000, 60_000]);
  });

  test('successors that end before they have taken over count regardless of the window', () => {
    const inVain = (nowMs: number): ThreadEvent[] => [died, ended, drained(nowMs, undefined, false)];
    const { state, effects } = run([...death(0), ...inVain(90_000), ...inVain(180_000)]);
    assert.equal(state.kind, 'given-up');
    assert.deepEqual(effects.at(-1), { type: 'give-up', cause: 'it threw', why: 'too-often' });
  });

  test('no thread is replaced when restartsMax is 0', () => {
    const { effects } = run(death(0), { ...LIMITS, restartsMax: 0 });
    assert.deepEqual(effects[1], { type: 'give-up', cause: 'it threw', why: 'too-often' });
  });

  test('the second death on one record quarantines it, even with another death between', () => {
    const poisons = (events: ThreadEvent[]): unknown[] =>
      run(events, { ...LIMITS, restartsMax: 10 }).effects.flatMap((effect) =>
        effect.type === 'replace' ? [effect.quarantined] : [],
      );
    assert.deepEqual(poisons([...death(0, 7), ...death(1, 7)]), [undefined, 7]);
    assert.deepEqual(poisons([...death(0, 7), ...death(1, 8)]), [undefined, undefined]);
    assert.deepEqual(poisons([...death(0, 7), ...death(1), ...death(2, 7)]), [undefined, undefined, 7]);
    assert.deepEqual(poisons([...death(0), ...death(1)]), [undefined, undefined]);
  });

  test('a supervisor that has given up remains so, and a repeated report of a death has no effect', () => {
    const gone = [...death(0), ...death(1), ...death(2)];
    assert.equal(run([...gone, died, ended, tick(1), drained(3)]).effects.length, run(gone).effects.length);
    assert.deepEqual(run([died, died, ended, died]).effects, [{ type: 'end' }]);
  });
});

/** Health: its snapshot and its listeners. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Health } from '../../../src/informer/health.ts';
import type { HealthChange, HealthSource, Merges } from '../../../src/informer/health.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';

const STALE_AFTER_MS = 100;
/** The wall clock is this far ahead of the other one. */
const EPOCH_MS = 1_700_000_000_000;

const SOURCE: HealthSource = {
  phase: 'watching',
  lastError: undefined,
  resourceVersion: '4711',
  handlers: [{ name: 'onPod', notifications: 3, bytes: 900, ageMs: 12 }],
  unmerged: 7,
  coalesced: 0,
};

const NO_MERGES: Merges = { mergedMs: undefined, onNextMerge: () => undefined };

let clock: FakeClock;
let mergedMs: number | undefined;
let onMerge: Set<() => void>;
let health: Health;
let changes: HealthChange[];
let listenerErrors: unknown[];

beforeEach(() => {
  clock = new FakeClock(0);
  mergedMs = undefined;
  onMerge = new Set();
  listenerErrors = [];
  health = new Health({
    clock,
    staleAfterMs: STALE_AFTER_MS,
    source: () => SOURCE,
    merges: {
      get mergedMs() {
        return mergedMs;
      },
      onNextMerge: (callback) => onMerge.add(callback),
    },
    onListenerError: (cause) => listenerErrors.push(cause),
    wallNow: () => EPOCH_MS + clock.now(),
  });
  changes = [];
  health.listen((change) => changes.push(change));
});

/** A first list, then an open watch, at 0. */
function connect(): void {
  health.apply({ type: 'started' });
  health.apply({ type: 'replaced' });
  health.apply({ type: 'phase', phase: 'watching' });
}

function merge(): void {
  mergedMs = clock.now();
  const callbacks = [...onMerge];
  onMerge.clear();
  for (const callback of callbacks) callback();
}

function types(): readonly string[] {
  return changes.map(({ type, health: { lagMs } }) => `${type} ${lagMs}`);
}

describe('health', () => {
  test('before start has no times', () => {
    assert.deepEqual(health.snapshot, {
      ...SOURCE,
      state: 'not-started',
      sinceMs: undefined,
      isStale: false,
      staleSinceMs: undefined,
      lagMs: undefined,
      lastEventAtMs: undefined,
      lastErrorAtMs: undefined,
      coalesced: 0,
    });
    assert.equal(clock.pending, 0);
  });

  test('has times of the wall clock, and the age of the cache', () => {
    clock.advance(10);
    connect();
    clock.advance(5);
    merge();
    clock.advance(3);
    health.apply({ type: 'error' });
    clock.advance(2);
    const { state, sinceMs, lastEventAtMs, lastErrorAtMs, lagMs } = health.snapshot;
    assert.deepEqual(
      [state, sinceMs, lastEventAtMs, lastErrorAtMs, lagMs],
      ['connected', EPOCH_MS + 10, EPOCH_MS + 15, EPOCH_MS + 18, 5],
    );
  });

  test('C146 notifies once when the cache becomes stale, and once when it has recovered', () => {
    connect();
    clock.advance(99);
    assert.deepEqual(types(), []);
    clock.advance(1);
    assert.deepEqual(types(), ['stale 100']);
    assert.equal(changes[0]?.health.staleSinceMs, EPOCH_MS + 100);
    clock.advance(500);
    merge();
    merge();
    assert.deepEqual(types(), ['stale 100', 'recovered 0']);
    assert.equal(changes[1]?.health.isStale, false);
    clock.advance(100);
    assert.deepEqual(types(), ['stale 100', 'recovered 0', 'stale 100']);
  });

  test('is not stale while events come, with one timer for all of them', () => {
    connect();
    for (let events = 0; events < 50; events++) {
      clock.advance(60);
      merge();
      assert.equal(clock.pending, 1);
    }
    clock.advance(99);
    assert.deepEqual(types(), []);
    clock.advance(1);
    assert.deepEqual(types(), ['stale 100']);
    assert.equal(clock.pending, 0);
  });

  test('an event counts in the state in which it was merged', () => {
    connect();
    clock.advance(50);
    merge();
    clock.advance(10);
    health.apply({ type: 'phase', phase: 'backing-off' });
    assert.equal(health.snapshot.lagMs, 10);
    merge();
    clock.advance(10);
    health.apply({ type: 'phase', phase: 'watching' });
    clock.advance(5);
    assert.equal(health.snapshot.lagMs, 5);
  });

  test('calls no listener before the first sync, however long that takes', () => {
    health.apply({ type: 'started' });
    health.apply({ type: 'phase', phase: 'backing-off' });
    clock.advance(10_000);
    assert.equal(health.snapshot.isStale, false);
    assert.equal(clock.pending, 0);
    assert.deepEqual(changes, []);
  });

  test('calls no listener when the informer stops, and leaves no timer', () => {
    connect();
    clock.advance(100);
    health.apply({ type: 'stopped' });
    clock.advance(1000);
    assert.deepEqual(types(), ['stale 100']);
    assert.deepEqual([health.snapshot.state, health.snapshot.isStale], ['stopped', false]);
    assert.equal(clock.pending, 0);
  });

  test('a listener that throws or rejects is reported, and the others are called', async () => {
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    health.listen(() => {
      throw thrown;
    });
    health.listen(() => Promise.reject(rejected));
    const seen: string[] = [];
    health.listen(({ type }) => seen.push(type));
    connect();
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(listenerErrors, [thrown, rejected]);
    assert.deepEqual(seen, ['stale']);
  });

  test('notifies of overdue staleness before it returns a snapshot, when its timer is late', () => {
    connect();
    const late = new FakeClock(0);
    const blocked = new Health({
      clock: { now: () => late.now(), schedule: () => () => {} },
      staleAfterMs: STALE_AFTER_MS,
      source: () => SOURCE,
      merges: NO_MERGES,
      onListenerError: () => {},
    });
    blocked.listen((change) => changes.push(change));
    for (const type of ['started', 'replaced'] as const) blocked.apply({ type });
    late.advance(150);
    assert.equal(blocked.snapshot.isStale, true);
    assert.deepEqual(types(), ['stale 150']);
  });
});

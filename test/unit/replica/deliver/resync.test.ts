/** Resync periods, as client-go rounds them, on a clock that the test moves. */
import { beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import { ResyncTimer } from '../../../../src/replica/deliver/resync.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { newListener } from './recording-handler.ts';

const HOUR_MS = 3_600_000;

let clock: FakeClock;
/** Due handlers as `name seconds-since-start`. */
let due: string[];
let raised: string[];
let names: Map<ProcessorListener, string>;

beforeEach(() => {
  clock = new FakeClock();
  due = [];
  raised = [];
  names = new Map();
});

function timer(checkPeriodMs: number): ResyncTimer {
  const startMs = clock.now();
  return new ResyncTimer({
    clock,
    periodMs: checkPeriodMs,
    onDue: (listeners) => {
      for (const listener of listeners) due.push(`${names.get(listener)} ${(clock.now() - startMs) / 1000}`);
    },
    onRaised: (message) => raised.push(message),
  });
}

function add(to: ResyncTimer, name: string, periodMs: number | undefined): ProcessorListener {
  const { listener } = newListener({}, { table: new EntryTable() });
  names.set(listener, name);
  to.add(listener, periodMs);
  return listener;
}

function take(): string[] {
  return due.splice(0);
}

describe('resync periods', () => {
  test('C13 count from the start, which is the first list', () => {
    const resync = timer(10_000);
    add(resync, 'a', 10_000);
    add(resync, 'slow', 15_000);
    clock.advance(60_000);
    assert.deepEqual(take(), []);
    resync.start();
    resync.start();
    clock.advance(30_000);
    assert.deepEqual(take(), ['a 70', 'a 80', 'slow 80', 'a 90']);
  });

  test('of 0 mean never, and then no timer runs', () => {
    const resync = timer(0);
    add(resync, 'never', 0);
    resync.start();
    assert.equal(clock.pending, 0);
    clock.advance(24 * HOUR_MS);
    assert.deepEqual(take(), []);
  });

  test('below a second are raised to one, and each raise is reported once', () => {
    const resync = timer(10);
    add(resync, 'a', 1);
    add(resync, 'default', undefined);
    assert.equal(raised.length, 2);
    resync.start();
    clock.advance(2999);
    assert.deepEqual(take(), ['a 1', 'default 1', 'a 2', 'default 2']);
  });

  test('before start: the shortest becomes the timer’s, the others wait for its next tick, 0 stays never', () => {
    // client-go's TestResyncCheckPeriod: 12 h, then handlers of 0, 1 min, 55 s and 5 s.
    const resync = timer(12 * HOUR_MS);
    for (const [name, periodMs] of [
      ['never', 0],
      ['minute', 60_000],
      ['odd', 57_000],
      ['five', 5000],
    ] as const)
      add(resync, name, periodMs);
    resync.start();
    clock.advance(120_000);
    const all = take();
    const timesOf = (name: string): string[] => all.filter((text) => text.startsWith(name));
    assert.deepEqual(timesOf('minute'), ['minute 60', 'minute 120']);
    assert.deepEqual(timesOf('odd'), ['odd 60', 'odd 120']);
    assert.equal(timesOf('five').length, 24);
    assert.deepEqual([all.length, raised], [28, []]);
  });

  test('of a handler added after start are raised to the timer’s, and a raise is reported', () => {
    const resync = timer(10_000);
    add(resync, 'a', 10_000);
    resync.start();
    clock.advance(5000);
    add(resync, 'fast', 2000);
    add(resync, 'slow', 15_000);
    add(resync, 'never', 0);
    assert.equal(raised.length, 1);
    assert.match(raised[0] ?? '', /2000 ms is raised to 10000 ms/);
    clock.advance(55_000);
    assert.deepEqual(
      take()
        .filter((text) => !text.startsWith('a'))
        .sort(),
      ['fast 20', 'fast 30', 'fast 40', 'fast 50', 'fast 60', 'slow 20', 'slow 40', 'slow 60'],
    );
  });

  test('of the first handler that requests a resync are kept when it is added after start', () => {
    const resync = timer(0);
    resync.start();
    clock.advance(7000);
    add(resync, 'late', 3000);
    clock.advance(6000);
    assert.deepEqual(take(), ['late 10', 'late 13']);
  });

  test('of months are kept', () => {
    const resync = timer(0);
    const monthsMs = 100 * 24 * HOUR_MS;
    add(resync, 'rare', monthsMs);
    resync.start();
    clock.advance(monthsMs * 1.3);
    assert.equal(take().length, 1);
  });

  test('are kept by timers that fire slightly early', () => {
    const resync = timer(2000);
    add(resync, 'a', 2000);
    const early = clock.schedule.bind(clock);
    clock.schedule = (delayMs, callback) => early(delayMs - 0.7, callback);
    resync.start();
    clock.advance(10_000);
    assert.equal(take().length, 5);
  });
});

describe('a handler that is due', () => {
  test('C12 is due until the next decision; before the first decision every handler is', () => {
    const resync = timer(1000);
    const short = add(resync, 'short', 1000);
    const long = add(resync, 'long', 2000);
    const never = add(resync, 'never', 0);
    resync.start();
    const states = (): boolean[] => [short, long, never].map(({ isResyncDue }) => isResyncDue);
    assert.deepEqual(states(), [true, true, true]);
    clock.advance(1000);
    assert.deepEqual(states(), [true, false, false]);
    clock.advance(1000);
    assert.deepEqual(states(), [true, true, false]);
  });

  test('C8 is not a handler that was removed', () => {
    const resync = timer(1000);
    const a = add(resync, 'a', 1000);
    add(resync, 'b', 1000);
    resync.start();
    clock.advance(1000);
    resync.remove(a);
    clock.advance(1000);
    assert.deepEqual(take(), ['a 1', 'b 1', 'b 2']);
  });

  test('C8 does not exist after stop, not even when stop comes during a resync', () => {
    const resync = timer(1000);
    const stopping = new ResyncTimer({
      clock,
      periodMs: 1000,
      onDue: () => stopping.stop(),
      onRaised: assert.fail,
    });
    add(resync, 'a', 1000);
    add(stopping, 'b', 1000);
    resync.start();
    stopping.start();
    clock.advance(1000);
    resync.stop();
    assert.equal(clock.pending, 0);
    add(resync, 'late', 1000);
    resync.start();
    assert.equal(clock.pending, 0);
  });
});

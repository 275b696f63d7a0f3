/** The window between two reads: how long the reflector's thread sleeps after a read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadWindow } from '../../../src/reflector/read-window.ts';

/** Reads `count` times, each after `pauseMs` with so many events; returns the last window. */
function steady(window: ReadWindow, count: number, pauseMs: number, events: number, startMs = 0): number {
  let windowMs = 0;
  for (let read = 1; read <= count; read++) windowMs = window.after(events, startMs + read * pauseMs);
  return windowMs;
}

describe('the window at the sockets', () => {
  it('C320 is none after silence: the first event is read at once, and the next one behind it', () => {
    const window = new ReadWindow(5, 0);
    assert.equal(window.after(1, 1000), 0);
    assert.ok(steady(window, 100, 1, 1, 1000) > 0);
    assert.equal(window.after(1, 5000), 0);
    assert.equal(window.after(1, 5001), 0);
  });

  it('is none for events that come so seldom that no two of them would share it', () => {
    assert.equal(steady(new ReadWindow(5, 0), 100, 9, 1), 0);
  });

  it('is shorter at higher rates, and never longer than its option', () => {
    assert.equal(steady(new ReadWindow(5, 0), 100, 1, 1), 5, '1,000 events a second');
    const windowMs = (count: number): number => steady(new ReadWindow(5, 0), 100, 1, count);
    assert.ok(Math.abs(windowMs(5) - 4) < 0.1, '5,000 events a second');
    assert.ok(Math.abs(windowMs(10) - 1) < 0.1, '10,000 events a second');
    assert.equal(steady(new ReadWindow(50, 0), 100, 1, 1), 50);
    assert.equal(steady(new ReadWindow(2, 0), 100, 1, 1), 2);
  });

  it('is none at rates at which it would be shorter than a sleep is exact, and none with the option 0', () => {
    assert.equal(steady(new ReadWindow(5, 0), 100, 0.5, 50), 0, '100,000 events a second');
    assert.equal(steady(new ReadWindow(0, 0), 100, 1, 1), 0);
  });
});

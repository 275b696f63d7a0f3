/** The turns of the reflector's own event loop: what becomes visible together, and when the thread sleeps. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReflectorLoop } from '../../../src/reflector/loop-turns.ts';
import { Harness, event, list, pod } from './harness.ts';

/** An event loop whose turns end when the test says so. */
class TestLoop implements ReflectorLoop {
  readonly readWindowMs = 5;
  readonly sleeps: number[] = [];
  #ends: (() => void)[] = [];

  atEndOfTurn(callback: () => void): void {
    this.#ends.push(callback);
  }

  sleep(windowMs: number): void {
    this.sleeps.push(windowMs);
  }

  endTurn(): number {
    const ends = this.#ends;
    this.#ends = [];
    for (const end of ends) end();
    return ends.length;
  }
}

/** Two informers that watch, and the exchanges of their watches. */
function watching(): { loop: TestLoop; harness: Harness; watches: Harness['exchanges'] } {
  const loop = new TestLoop();
  const harness = new Harness({ loop });
  for (const informer of [1, 2]) {
    harness.start({}, informer).list('5', pod('a', '5'));
    loop.endTurn();
    harness.drain();
    harness.exchange.head();
  }
  loop.endTurn();
  harness.take();
  return { loop, harness, watches: harness.exchanges.filter(({ isWatch }) => isWatch) };
}

describe('a turn of the event loop', () => {
  it('C324 makes the records of all connections visible at its end', () => {
    const { loop, harness, watches } = watching();
    for (const [index, watch] of watches.entries()) watch.sendEvents(event('MODIFIED', 'a', `1${index}`));
    watches[0]?.sendEvents(event('MODIFIED', 'a', '12'));
    assert.deepEqual(harness.take(), []);
    assert.equal(loop.endTurn(), 1, 'one end for all of them');
    assert.deepEqual(harness.take(), ['Modified a@10', 'Modified a@11', 'Modified a@12']);
  });

  it('C324 makes more than 32 records visible at once', () => {
    const { harness, watches } = watching();
    const events = Array.from({ length: 33 }, (_, index) => event('MODIFIED', 'a', String(10 + index)));
    watches[0]?.sendEvents(...events);
    assert.equal(harness.take().length, 33);
  });
});

describe('the window after a turn', () => {
  /** Reads an event a millisecond for some periods of the measured rate. */
  function stream({ loop, harness, watches }: ReturnType<typeof watching>): void {
    for (let version = 10; version < 50; version++) {
      harness.clock.advance(1);
      watches[0]?.sendEvents(event('MODIFIED', 'a', String(version)));
      loop.endTurn();
    }
  }

  it('C320 follows the events of all connections', () => {
    const all = watching();
    stream(all);
    assert.equal(all.loop.sleeps.at(-1), 5);
  });

  it('C325 is none while any informer lists, whatever the others watch', () => {
    const all = watching();
    const { harness, loop } = all;
    harness.start({}, 3);
    stream(all);
    assert.deepEqual(loop.sleeps, []);
    harness.exchange.head().send(list('60', [])).end();
    loop.endTurn();
    harness.drain();
    harness.exchange.head();
    stream(all);
    assert.ok(loop.sleeps.length > 0);
  });
});

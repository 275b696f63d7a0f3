/** The turns of the reflector's own event loop: what becomes visible together, and when the thread sleeps. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReflectorLoop } from '../../../src/reflector/loop-turns.ts';
import { Harness, event, list, pod } from './harness.ts';

/** An event loop whose turns end when the test says so. */
class TestLoop implements ReflectorLoop {
  readonly readWindowMs: number;
  readonly sleeps: number[] = [];
  onSleep: () => void = () => undefined;
  #ends: (() => void)[] = [];

  constructor(readWindowMs = 5) {
    this.readWindowMs = readWindowMs;
  }

  atEndOfTurn(callback: () => void): void {
    this.#ends.push(callback);
  }

  sleep(windowMs: number): void {
    this.sleeps.push(windowMs);
    this.onSleep();
  }

  endTurn(): number {
    const ends = this.#ends;
    this.#ends = [];
    for (const end of ends) end();
    return ends.length;
  }
}

/** Two informers that watch, and the exchanges of their watches. */
function watching(readWindowMs?: number): {
  loop: TestLoop;
  harness: Harness;
  watches: Harness['exchanges'];
} {
  const loop = new TestLoop(readWindowMs);
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

/** Reads an event a millisecond for some periods of the measured rate. */
function stream({ loop, harness, watches }: ReturnType<typeof watching>): void {
  for (let version = 10; version < 50; version++) {
    harness.clock.advance(1);
    watches[0]?.sendEvents(event('MODIFIED', 'a', String(version)));
    loop.endTurn();
  }
}

describe('a turn of the event loop', () => {
  it('C324 makes the records of all connections visible at its end', () => {
    const all = watching();
    stream(all);
    const { loop, harness, watches } = all;
    harness.take();
    for (const [index, watch] of watches.entries()) watch.sendEvents(event('MODIFIED', 'a', `6${index}`));
    watches[0]?.sendEvents(event('MODIFIED', 'a', '62'));
    assert.deepEqual(harness.take(), []);
    assert.equal(loop.endTurn(), 1, 'one end for all of them');
    assert.deepEqual(harness.take(), ['Modified a@60', 'Modified a@61', 'Modified a@62']);
  });

  it('C324 has no end to wait for while events come seldom', () => {
    const { loop, harness, watches } = watching();
    // The turn behind the list's records, which came together.
    harness.clock.advance(1000);
    watches[0]?.sendEvents(event('MODIFIED', 'a', '9'));
    loop.endTurn();
    assert.deepEqual(harness.take(), ['Modified a@9']);
    for (let version = 10; version < 20; version++) {
      harness.clock.advance(10);
      watches[version % 2]?.sendEvents(event('MODIFIED', 'a', String(version)));
      assert.deepEqual(harness.take(), [`Modified a@${version}`]);
    }
    assert.equal(loop.endTurn(), 0);
  });

  it('C324 collects the rest of a burst after silence', () => {
    const { loop, harness, watches } = watching();
    harness.clock.advance(1000);
    watches[0]?.sendEvents(event('MODIFIED', 'a', '9'));
    loop.endTurn();
    harness.take();
    harness.clock.advance(1000);
    for (let version = 10; version < 30; version++)
      watches[version % 2]?.sendEvents(event('MODIFIED', 'a', String(version)));
    const first = harness.take();
    assert.ok(first.length > 0 && first.length < 10, `${first.length} records before the end of the turn`);
    assert.equal(loop.endTurn(), 1);
    assert.equal(first.length + harness.take().length, 20);
  });

  it('C324 makes more than 32 records visible at once', () => {
    const all = watching();
    stream(all);
    const { harness, watches } = all;
    harness.take();
    const events = Array.from({ length: 33 }, (_, index) => event('MODIFIED', 'a', String(60 + index)));
    watches[0]?.sendEvents(...events);
    assert.equal(harness.take().length, 33);
  });
});

describe('the window after a turn', () => {
  it('C320 follows the events of all connections', () => {
    const all = watching();
    stream(all);
    assert.equal(all.loop.sleeps.at(-1), 5);
  });

  it('C320 is none behind the first event after silence, whatever came before it', () => {
    const all = watching();
    const { harness, loop, watches } = all;
    stream(all);
    assert.ok(loop.sleeps.length > 0);
    harness.take();
    loop.sleeps.length = 0;
    harness.clock.advance(1000);
    watches[1]?.sendEvents(event('MODIFIED', 'a', '100'));
    loop.endTurn();
    assert.deepEqual(harness.take(), ['Modified a@100']);
    assert.deepEqual(loop.sleeps, []);
  });

  it('C320 begins when all that was read is visible', () => {
    const all = watching();
    const { harness, loop } = all;
    const seen: number[] = [];
    loop.onSleep = () => seen.push(harness.take().length);
    stream(all);
    assert.ok(seen.length > 0);
    assert.ok(!seen.includes(0), 'the records of the turn are there before the thread sleeps');
    assert.deepEqual(harness.take(), []);
  });

  it('C320 changes no order and no contents: records are those of a thread without windows', () => {
    const [none, short, long] = [0, 5, 50].map((readWindowMs) => {
      const { harness, loop, watches } = watching(readWindowMs);
      for (let version = 100; version < 400; version++) {
        const burst = version % 60 < 40;
        harness.clock.advance(burst ? 0.5 : 30);
        watches[version % 2]?.sendEvents(event('MODIFIED', version % 3 ? 'a' : 'b', String(version)));
        if (version % 5 !== 0) loop.endTurn();
      }
      loop.endTurn();
      return { records: harness.take(), sleeps: loop.sleeps.length };
    });
    assert.equal(none?.sleeps, 0);
    assert.ok(Number(short?.sleeps) > 0 && Number(long?.sleeps) > 0);
    assert.equal(none?.records.length, 300);
    for (const other of [short, long]) assert.deepEqual(other?.records, none?.records);
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

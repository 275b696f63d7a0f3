/** Latency of sampled events on the main thread, with a clock that moves only between the stages. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { onObservation } from '../../../../src/metrics/histogram.ts';
import type { LatencyStage } from '../../../../src/replica/deliver/event-latency.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import type { ScriptedReplica } from '../store/scripted-replica.ts';
import { at } from '../store/objects.ts';
import { Gates, scene, settled } from './listener-scene.ts';
import type { Scene } from './listener-scene.ts';
import type { Reaction } from './recording-handler.ts';

const READ_MS = 1000;

let endObservation = (): unknown => undefined;
afterEach(() => endObservation());

describe('the latency of a sampled event', () => {
  test('is observed at each stage, as the time since the read', () => {
    const clock = new FakeClock(READ_MS);
    const { sampled, listener, seconds } = start(clock, () => clock.advance(4));
    clock.advance(2);
    sampled((replica) => replica.put(at('a', 1)));
    assert.deepEqual(seconds(), { committed: [0.001], merged: [0.002], delivered: [], done: [] });
    clock.advance(8);
    listener.deliver(1);
    assert.deepEqual(seconds(), {
      committed: [0.001],
      merged: [0.002],
      delivered: [0.01],
      done: [0.014],
    });
  });

  test('is done when the promise of the call has settled, fulfilled or not', async () => {
    const clock = new FakeClock(READ_MS);
    const gates = new Gates();
    const { sampled, listener, seconds } = start(clock, () => gates.next());
    sampled((replica) => replica.put(at('a', 1)));
    sampled((replica) => replica.remove(at('a', 2)));
    listener.deliver(Infinity);
    clock.advance(5);
    assert.deepEqual(seconds().done, []);
    gates.open[0]?.resolve();
    await settled();
    assert.deepEqual(seconds().done, [0.005]);
    listener.deliver(Infinity);
    clock.advance(15);
    gates.open[1]?.reject(new Error('no'));
    await settled();
    assert.deepEqual(seconds(), {
      committed: [0.001, 0.001],
      merged: [0, 0],
      delivered: [0, 0.005],
      done: [0.005, 0.02],
    });
  });

  test('belongs to its own notification, however many wait before and behind', () => {
    const clock = new FakeClock(READ_MS);
    const { replica, sampled, listener, seconds } = start(clock, () => clock.advance(1));
    for (let version = 1; version <= 10; version++) {
      const change = (): void => replica.put(at('a', version));
      if (version === 3 || version === 10) sampled(change);
      else change();
    }
    listener.deliver(Infinity);
    assert.deepEqual(seconds().delivered, [0.002, 0.009]);
    assert.deepEqual(seconds().done, [0.003, 0.01]);
  });

  test('is observed for each handler', () => {
    const clock = new FakeClock(READ_MS);
    const { sampled, listener, join, seconds } = start(clock);
    const other = join({ onAdd: () => clock.advance(3) }).listener;
    sampled((replica) => replica.put(at('a', 1)));
    listener.deliver(1);
    other.deliver(1);
    assert.deepEqual(seconds().delivered, [0, 0]);
    assert.deepEqual(seconds().done, [0, 0.003]);
  });

  test('ends at the merge when the handler receives a later change in its place, or is removed', () => {
    const clock = new FakeClock(READ_MS);
    const { replica, sampled, listener, join, seconds } = start(clock);
    const removed = join({ onAdd: () => undefined }).listener;
    sampled(() => replica.put(at('a', 1)));
    replica.put(at('a', 2), at('b', 3));
    sampled(() => replica.put(at('b', 4)));
    replica.put(at('c', 5));
    while (listener.coalesce(1));
    removed.remove();
    clock.advance(7);
    listener.deliver(1);
    assert.deepEqual(seconds().delivered, [], 'a is delivered as it was changed last');
    listener.deliver(2);
    assert.deepEqual(seconds().delivered, [0.007], 'b is delivered as the sampled event left it');
    assert.equal(removed.deliver(1), 0);
    assert.equal(seconds().merged.length, 2);
  });

  test('is not recorded for a change that no handler receives', () => {
    const { sampled, replica, listener, seconds } = start(new FakeClock(READ_MS));
    replica.begin();
    sampled(() => replica.put(at('a', 1)));
    replica.end();
    replica.put(at('b', 2));
    listener.deliver(Infinity);
    assert.deepEqual(seconds(), { committed: [0.001], merged: [0], delivered: [], done: [] });
  });
});

interface Sampling extends Scene {
  /** Makes a change that is the one of a sampled event, read at `READ_MS` and committed 1 ms later. */
  readonly sampled: (change: (replica: ScriptedReplica) => void) => void;
  /** Returns the latencies of each stage so far. */
  readonly seconds: () => Record<LatencyStage, number[]>;
}

function start(clock: FakeClock, react?: Reaction): Sampling {
  const made = scene(react, { clock });
  const { latency } = made.processor;
  latency.start({});
  const seen: Record<LatencyStage, number[]> = { committed: [], merged: [], delivered: [], done: [] };
  endObservation = onObservation((_name, { stage }, seconds) => seen[stage as LatencyStage].push(seconds));
  const sampled: Sampling['sampled'] = (change) => {
    latency.begin({ readMs: READ_MS, committedMs: READ_MS + 1 }, clock);
    change(made.replica);
    latency.end();
  };
  return { ...made, sampled, seconds: () => seen };
}

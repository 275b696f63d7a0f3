/** The history of raw watchers: exact, and small for those that received the same. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommonEvents, Runs } from '../../../../src/tools/loadtest/watch/raw/common-events.ts';
import { Deliveries } from '../../../../src/tools/loadtest/watch/raw/deliveries.ts';

const LINE = Buffer.from('{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"12"}}}');
const FORM = { lengthBytes: LINE.length, versionAt: LINE.indexOf('12'), typeByte: 'M'.charCodeAt(0) };

describe('common events', () => {
  it('keep an event once, and recognize its line', () => {
    const events = new CommonEvents();
    const event = { kind: 'MODIFIED', key: 'a', revision: 12 } as const;
    assert.equal(events.indexOf(event, FORM), 0);
    assert.equal(events.indexOf({ ...event, revision: 13 }), 1);
    assert.equal(events.indexOf(event), 0);
    assert.equal(events.length, 2);
    const padded = Buffer.concat([Buffer.from('before'), LINE]);
    assert.equal(events.isAt(0, false, padded, 6, padded.length), true);
  });

  it('are not mistaken for a line with another version, type, length or meaning', () => {
    const events = new CommonEvents();
    events.indexOf({ kind: 'MODIFIED', key: 'a', revision: 12 }, FORM);
    const others = [
      ['"12"', '"13"'],
      ['"12"', '"1x"'],
      ['MODIFIED', 'DELETED0'],
      ['12', '012'],
    ] as const;
    for (const [from, to] of others) {
      const line = Buffer.from(LINE.toString().replace(from, to));
      assert.equal(events.isAt(0, false, line, 0, line.length), false, to);
    }
    assert.equal(events.isAt(0, true, LINE, 0, LINE.length), false);
    assert.equal(events.isAt(1, false, LINE, 0, LINE.length), false);
  });
});

describe('runs', () => {
  it('return what was added, in its order', () => {
    const runs = new Runs();
    const added = [0, 1, 2, 2, 3, 7, 8, 1];
    for (const index of added) runs.add(index);
    assert.deepEqual([...runs], added);
    assert.equal(runs.text, '0 3 2 4 7 9 1 2');
  });
});

describe('deliveries', () => {
  it('count all changes of a second, and keep the times of some', () => {
    const deliveries = new Deliveries(1e6, 0);
    for (let index = 0; index < 10_000; index++) deliveries.add(index, 3e6 + index * 1000);
    assert.deepEqual(deliveries.seconds.get(2), 1000);
    const counted = [...deliveries.seconds.values()].reduce((sum, count) => sum + count, 0);
    assert.equal(counted, 10_000);
    const { samples } = deliveries;
    assert.ok(samples.length >= 256 && samples.length <= 512, String(samples.length));
    for (const { index, calledUs } of samples) assert.equal(calledUs, 3e6 + index * 1000);
    assert.ok((samples.at(-1)?.index ?? 0) > 9900);
  });

  it('keep other changes for another watcher', () => {
    const kept = [0, 1].map((offset) => {
      const deliveries = new Deliveries(0, offset);
      for (let index = 0; index < 1000; index++) deliveries.add(index, index);
      return new Set(deliveries.samples.map(({ index }) => index));
    });
    const common = [...(kept[0] ?? [])].filter((index) => kept[1]?.has(index));
    assert.deepEqual(common, []);
  });

  it('end the sample of a change that is repeated without end', () => {
    const deliveries = new Deliveries(0, 0);
    for (let count = 0; count < 2000; count++) deliveries.add(0, count);
    assert.ok(deliveries.samples.length <= 512);
  });
});

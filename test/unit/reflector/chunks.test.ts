/** Chunk boundaries at any byte: the records do not depend on where the network cut the stream. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { END, Harness, bookmark, event, list, pod } from './harness.ts';

const NAMES = ['a', 'b\u00fc\u{1f600}', 'q"\\u0041', 'z'];
const LIST = Buffer.from(
  list(
    '10',
    NAMES.map((name, index) => pod(name, String(index + 1))),
  ),
);
const EVENTS = [
  event('ADDED', 'n\u00e9w', '11'),
  event('MODIFIED', 'a', '12'),
  bookmark('15'),
  event('DELETED', 'z', '16'),
  { object: { metadata: { resourceVersion: '17', name: 'other\\order' }, kind: 'Pod' }, type: 'ADDED' },
];
const WATCH = Buffer.from(EVENTS.map((line) => `${JSON.stringify(line)}\r\n`).join(''));
const STREAM = Buffer.concat([
  Buffer.from(
    NAMES.map((name, index) => `${JSON.stringify(event('ADDED', name, String(index + 1)))}\n`).join(''),
  ),
  Buffer.from(`${JSON.stringify(bookmark('10', END))}\n`),
]);

/** Returns all records of a list and a watch whose bodies were cut by `cut`. */
function play(ringBytes: number, cut: (body: Buffer) => Buffer[]): string {
  const harness = new Harness({ shards: 2, ringBytes }).start();
  harness.exchange.head();
  for (const chunk of cut(LIST)) harness.exchange.send(chunk);
  harness.exchange.end();
  harness.drain();
  harness.exchange.head();
  for (const chunk of cut(WATCH)) harness.exchange.send(chunk);
  harness.drain();
  assert.deepEqual(harness.errors(), []);
  return JSON.stringify(harness.records);
}

function playStream(cut: (body: Buffer) => Buffer[]): string {
  const harness = new Harness().start({ watchList: 'auto' });
  harness.exchange.head();
  for (const chunk of [...cut(STREAM), ...cut(WATCH)]) harness.exchange.send(chunk);
  harness.drain();
  assert.deepEqual(harness.errors(), []);
  return JSON.stringify(harness.records);
}

const whole = (body: Buffer): Buffer[] => [body];
const bytes = (body: Buffer): Buffer[] => Array.from(body, (_, index) => body.subarray(index, index + 1));
const cutAt =
  (place: number) =>
  (body: Buffer): Buffer[] => [body.subarray(0, place), body.subarray(place)];

describe('chunk boundaries', () => {
  it('the bodies hold every record once', () => {
    const harness = new Harness().start();
    harness.exchange.head().send(LIST).end();
    harness.exchange.head().send(WATCH);
    assert.deepEqual(harness.take(), [
      'ReplaceBegin 1',
      'Replaced a@1',
      'Replaced b\u00fc\u{1f600}@2',
      'Replaced q"\\u0041@3',
      'Replaced z@4',
      'ReplaceEnd 1@10',
      'Added n\u00e9w@11',
      'Modified a@12',
      'Bookmark 1@15',
      'Deleted z@16',
      'Added other\\order@17',
    ]);
  });

  it('one byte at a time gives the same records, also through a ring that holds few', () => {
    assert.equal(play(2 ** 16, bytes), play(2 ** 16, whole));
    assert.equal(play(1024, bytes), play(2 ** 16, whole));
    assert.equal(playStream(bytes), playStream(whole));
  });

  it('a cut at every single place gives the same records', () => {
    const expected = play(2 ** 16, whole);
    for (let place = 0; place <= Math.max(LIST.length, WATCH.length); place++) {
      assert.equal(play(2 ** 16, cutAt(place)), expected, `cut at ${place}`);
    }
  });
});

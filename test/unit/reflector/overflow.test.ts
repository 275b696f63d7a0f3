/** Full rings and a full log: no record is lost or reordered, and sockets are not read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_BYTES } from '../../../src/shared/log/log-layout.ts';
import { UsageWriter, allocateUsage, readUsage } from '../../../src/shared/thread-usage.ts';
import type { ThreadUsage } from '../../../src/shared/thread-usage.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { StampReader } from '../../../src/shared/stamps.ts';
import { END, Harness, bookmark, errorEvent, event, list, pod } from './harness.ts';

/** Fills the ring until not even a control record fits. */
function fill(harness: Harness): void {
  while (harness.twin.router.offerControl(DeltaKind.Bookmark, 1, 1, ''));
}

/** About fourteen objects fit into the ring. */
const TINY = { shards: 1, ringBytes: 1024 } as const;

function events(from: number, to: number, padding = 0): object[] {
  const all: object[] = [];
  for (let version = from; version <= to; version++) {
    all.push(event('ADDED', `pod-${version}`, String(version), padding));
  }
  return all;
}

function added(from: number, to: number): string[] {
  return events(from, to).map((_, index) => `Added pod-${from + index}@${from + index}`);
}

describe('the time without room', () => {
  function figures(harness: Harness): ThreadUsage {
    const buffer = allocateUsage();
    const usage = new UsageWriter(buffer, harness.clock);
    harness.thread.measure(usage);
    usage.publish();
    return readUsage(buffer);
  }

  it('counts for the ring while a ring is full', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 60));
    harness.clock.advance(70);
    assert.deepEqual([figures(harness).ringPausedMs, figures(harness).logPausedMs], [70, 0]);
    harness.drain();
    harness.clock.advance(70);
    assert.equal(figures(harness).ringPausedMs, 70);
  });

  it('counts for the log while the log is full, whose blocks are in use until they are merged', () => {
    const harness = new Harness({ shards: 1, logBytes: 2 * BLOCK_BYTES }).start().sync('10');
    harness.drain();
    assert.equal(figures(harness).logUsedBytes, 0);
    harness.exchange.sendEvents(...events(11, 40, 2 ** 19));
    harness.clock.advance(70);
    const { ringPausedMs, logPausedMs, logUsedBytes } = figures(harness);
    assert.deepEqual([ringPausedMs, logPausedMs, logUsedBytes], [0, 70, 2 * BLOCK_BYTES]);
    harness.drain();
    assert.deepEqual([figures(harness).logPausedMs, figures(harness).logUsedBytes], [70, 0]);
  });
});

describe('a full ring', () => {
  it('C171 pauses the socket, keeps the rest in order and continues when there is room', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.take();
    const watch = harness.exchange;
    watch.sendEvents(...events(11, 60));
    assert.equal(harness.thread.hasBacklog, true);
    assert.equal(watch.isPaused, true);
    assert.equal(harness.backlogs, 1);
    // Bytes sent before the pause took effect.
    watch.sendEvents(...events(61, 70));
    assert.equal(harness.thread.doWork(), 0);
    assert.deepEqual(harness.take(), added(11, 70));
    assert.equal(harness.thread.hasBacklog, false);
    assert.equal(watch.isPaused, false);
    watch.sendEvents(...events(71, 72));
    assert.deepEqual(harness.take(), added(71, 72));
    assert.deepEqual(harness.errors(), []);
  });

  it('does not shorten the latency of events: it counts from the arrival of their bytes', () => {
    const harness = new Harness({ ...TINY, lastSequence: 2 ** 32 - 30 }).start().sync('10');
    harness.take();
    const arrivedMs = harness.clock.now();
    harness.exchange.sendEvents(...events(11, 60));
    assert.ok(harness.twin.router.sequence > 2 ** 31, 'the event with sequence 0 waits');
    harness.clock.advance(500);
    harness.exchange.sendEvents(...events(61, 62));
    harness.take();
    const stamp = new StampReader(harness.twin.stamps).read(0);
    assert.deepEqual(stamp, { readMs: arrivedMs, committedMs: arrivedMs + 500 });
  });

  it('counts the work of doWork, also when it is less than one chunk', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 60));
    harness.read(3);
    assert.ok(harness.thread.doWork() > 0);
    assert.equal(harness.thread.doWork(), 0);
    assert.equal(harness.thread.hasBacklog, true);
  });

  it('lets the end of a connection wait behind its bytes, and resumes from the last of them', () => {
    const harness = new Harness(TINY).start().sync('10');
    const watch = harness.exchange;
    watch.sendEvents(...events(11, 60)).reset();
    watch.resume();
    assert.equal(harness.exchange, watch);
    harness.drain();
    assert.notEqual(harness.exchange, watch);
    assert.equal(harness.exchange.query['resourceVersion'], '60');
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_CONNECTION_RESET']);
  });

  it('resumes from what is in the rings when the stream is ended in the middle of a chunk', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 40), errorEvent(500, 'InternalError'), ...events(41, 50));
    harness.drain();
    harness.clock.advance(800);
    assert.deepEqual(harness.exchange.query, { resourceVersion: '40' });
    assert.equal(harness.records.filter(({ name }) => name !== '').length, 30);
  });

  it('lets control records wait for their turn', () => {
    const harness = new Harness(TINY).start();
    const names = Array.from({ length: 40 }, (_, index) => pod(`pod-${index}`, '3'));
    harness.exchange.head().send(list('10', names)).end();
    assert.equal(harness.exchange.isWatch, false);
    harness.drain();
    assert.equal(harness.exchange.isWatch, true);
    assert.equal(harness.records.at(0)?.kind, 'ReplaceBegin');
    assert.equal(harness.records.at(-1)?.kind, 'ReplaceEnd');
    assert.equal(harness.replica.objects().length, 40);
  });

  it('without room for ReplaceBegin holds the items back', () => {
    const harness = new Harness(TINY).start({}, 1).sync('10').start({ watchList: 'auto' }, 2);
    const second = harness.exchange;
    fill(harness);
    second.head();
    assert.equal(second.isPaused, true);
    second.resume();
    second.sendEvents(event('ADDED', 'a', '3'), bookmark('10', END));
    harness.drain();
    const seen = harness.records.filter(({ informer }) => informer === 2);
    assert.deepEqual(
      seen.map(({ kind, epoch }) => [kind, epoch]),
      [
        ['ReplaceBegin', 1],
        ['Replaced', 0],
        ['ReplaceEnd', 1],
      ],
    );
  });

  it('without room for a bookmark delivers it later', () => {
    const harness = new Harness(TINY).start().sync('10');
    fill(harness);
    harness.exchange.sendEvents(bookmark('20'), event('ADDED', 'a', '21'));
    assert.equal(harness.thread.hasBacklog, true);
    assert.deepEqual(harness.take().slice(-2), ['Bookmark 1@20', 'Added a@21']);
  });

  it('drops the end of a watch that waits behind a malformed line', () => {
    const harness = new Harness(TINY).start().sync('10');
    const watch = harness.exchange;
    watch.sendEvents(...events(11, 60)).send('garbage\n');
    watch.resume();
    watch.end();
    harness.drain();
    // Two requests before, one for the malformed line, none for the end of the watch closed by then.
    assert.equal(harness.messages.filter(({ type }) => type === 'prepare').length, 3);
    assert.equal(harness.exchange.query['resourceVersion'], '60');
  });

  it('pauses the sockets of all informers, of new requests too, and all continue afterwards', () => {
    const harness = new Harness(TINY).start({}, 1).start({}, 2);
    for (const exchange of harness.exchanges) exchange.head().send(list('10', [])).end();
    harness.drain();
    const [first, second] = harness.exchanges.slice(2);
    assert.ok(first && second);
    first.stream(...events(11, 60));
    second.stream(...events(11, 15));
    assert.deepEqual([first.isPaused, second.isPaused], [true, true]);
    harness.start({}, 3);
    harness.drain();
    assert.deepEqual([first.isPaused, second.isPaused], [false, false]);
    assert.equal(harness.exchange.isPaused, false);
    assert.equal(harness.replica.objects(1).length, 50);
    assert.equal(harness.replica.objects(2).length, 5);
  });

  it('is reported to the main thread only when it lasts', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 60));
    harness.clock.advance(999);
    harness.drain();
    assert.equal(harness.phases().includes('paused'), false);
    harness.exchange.sendEvents(...events(61, 110));
    harness.clock.advance(1000);
    assert.equal(harness.phases().at(-1), 'paused');
    harness.drain();
    assert.equal(harness.phases().at(-1), 'watching');
  });

  it('is not mistaken for the silence of a server', () => {
    const harness = new Harness(TINY).start().sync('10');
    const watch = harness.exchange;
    watch.sendEvents(...events(11, 60));
    harness.clock.advance(3_600_000);
    harness.drain();
    assert.equal(watch.isClosed, false);
    harness.clock.advance(304_999);
    assert.equal(watch.isClosed, false);
    harness.clock.advance(1);
    assert.equal(watch.isClosed, true);
  });

  it('is not mistaken for a server without streaming lists', () => {
    const harness = new Harness(TINY).start({ watchList: 'auto' });
    const stream = harness.exchange.head();
    stream.sendEvents(...events(11, 60));
    harness.clock.advance(3_600_000);
    harness.drain();
    harness.clock.advance(29_999);
    assert.equal(stream.isClosed, false);
    harness.clock.advance(1);
    assert.equal(stream.isClosed, true);
  });

  it('does not prolong a streaming list without end: the wait before the pause counts', () => {
    const harness = new Harness(TINY).start({ watchList: 'auto' });
    const stream = harness.exchange.head();
    for (let version = 11; version < 260; version++) {
      stream.sendEvents(...events(version, version));
      harness.drain();
      harness.clock.advance(1000);
    }
    stream.sendEvents(...events(260, 300));
    harness.clock.advance(3_600_000);
    harness.drain();
    for (let version = 301; version < 351; version++) {
      assert.equal(stream.isClosed, false);
      stream.sendEvents(...events(version, version));
      harness.drain();
      harness.clock.advance(1000);
    }
    harness.clock.advance(1000);
    assert.equal(stream.isClosed, true);
  });

  it('does not prevent the stop of an informer: its bytes are dropped, its last record waits', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 60));
    fill(harness);
    harness.tell({ type: 'stop', informer: 1 });
    assert.equal(harness.exchange.isClosed, true);
    assert.notEqual(harness.messages.at(-1)?.type, 'stopped');
    harness.drain();
    assert.equal(harness.messages.at(-1)?.type, 'stopped');
    assert.equal(harness.records.at(-1)?.kind, 'Detach');
    assert.ok(harness.records.length < 30);
  });

  it('does not prevent the close of the thread', () => {
    const harness = new Harness(TINY).start().sync('10');
    harness.exchange.sendEvents(...events(11, 60));
    harness.tell({ type: 'shutdown' });
    assert.equal(harness.thread.hasBacklog, false);
    assert.equal(harness.clock.pending, 0);
  });
});

describe('a full log', () => {
  it('holds everything back until the main thread has merged, however much room the rings have', () => {
    const harness = new Harness({ shards: 2, ringBytes: 2 ** 16, logBytes: BLOCK_BYTES }).start().sync('10');
    harness.take();
    const watch = harness.exchange;
    watch.sendEvents(...events(11, 30, 2 ** 18));
    assert.equal(watch.isPaused, true);
    // Shards have read everything, but the main thread has not copied it.
    harness.read();
    assert.equal(harness.thread.doWork(), 0);
    harness.twin.pass();
    assert.ok(harness.thread.doWork() > 0);
    assert.deepEqual(harness.take(), added(11, 30));
    assert.equal(watch.isPaused, false);
  });

  it('takes an object as large as itself only when it is empty, and then continues', () => {
    const large = BLOCK_BYTES - 4096;
    const harness = new Harness({ ...TINY, logBytes: BLOCK_BYTES }).start({ objectBytesMax: 2 ** 24 });
    harness.sync('10').take();
    harness.exchange.sendEvents(event('ADDED', 'small', '11', 1000), event('ADDED', 'large', '12', large));
    harness.exchange.sendEvents(event('ADDED', 'next', '13', 1000));
    harness.drain();
    const seen = harness.records.map(({ name, flags }) => [name, flags]);
    assert.deepEqual(seen, [
      ['small', 0],
      ['large', 0],
      ['next', 0],
    ]);
  });
});

/** Servers that send events in an impossible order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ITEM_BYTES_MAX } from '../../../src/http/list-items.ts';
import { LINE_BYTES_MAX } from '../../../src/http/watch-frames.ts';
import { BOOKMARK_SILENCE_MAX_MS } from '../../../src/reflector/watch-body.ts';
import { Harness, bookmark, event, pod } from './harness.ts';

/** Ends the watch and returns the version from which the next one begins. */
function resumedAt(harness: Harness): string | undefined {
  harness.exchange.end();
  return harness.exchange.query['resourceVersion'];
}

describe('a position', () => {
  it('stays where it is when an older event comes after a newer one', () => {
    const harness = new Harness().start().sync('9');
    harness.exchange.sendEvents(
      event('ADDED', 'a', '100'),
      event('ADDED', 'b', '99'),
      event('ADDED', 'c', '20'),
    );
    assert.equal(resumedAt(harness), '100');
    assert.deepEqual(harness.errors(), []);
  });

  it('ignores an older bookmark, which is reported and does not reach the cache', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents(event('ADDED', 'a', '20'), bookmark('19'), bookmark('20'), bookmark('21'));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_OUT_OF_ORDER']);
    assert.deepEqual(harness.take().slice(-2), ['Bookmark 1@20', 'Bookmark 1@21']);
    assert.equal(resumedAt(harness), '21');
  });

  it('follows versions without an order', () => {
    const harness = new Harness().start().sync('v9');
    harness.exchange.sendEvents(
      event('ADDED', 'a', 'v8'),
      event('ADDED', 'b', 'v10'),
      event('ADDED', 'c', 'v1'),
    );
    assert.equal(resumedAt(harness), 'v1');
  });

  it('orders versions that no number can hold', () => {
    const harness = new Harness().start().sync('1');
    const long = '9'.repeat(40);
    const longer = `1${'0'.repeat(40)}`;
    harness.exchange.sendEvents(event('ADDED', 'a', longer), event('ADDED', 'b', long));
    assert.equal(resumedAt(harness), longer);
  });
});

describe('a server with another history', () => {
  it('is listed again when it sends an event older than the version of the request', () => {
    const harness = new Harness().start().sync('1000');
    harness.exchange.sendEvents(event('MODIFIED', 'a', '900'));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_TIME_TRAVEL']);
    harness.clock.advance(800);
    assert.equal(harness.exchange.query['watch'], undefined);
    assert.equal(harness.exchange.query['resourceVersion'], undefined, 'the newest');
  });

  it('is assumed when it sends an event older than its own bookmark', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents(bookmark('500'), event('MODIFIED', 'a', '400'));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_TIME_TRAVEL']);
  });

  it('is not assumed for a deletion, which some servers give the version of the last state', () => {
    const harness = new Harness().start().sync('1000', 'a');
    harness.exchange.sendEvents(event('DELETED', 'a', '900'));
    assert.deepEqual(harness.errors(), []);
    assert.equal(resumedAt(harness), '1000');
  });
});

describe('incomplete data', () => {
  it('is reported when the answer ends in the middle of an event, which is requested again', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents(event('ADDED', 'a', '11'));
    harness.exchange.send('{"type":"ADDED","obj');
    assert.equal(resumedAt(harness), '11');
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_TRUNCATED']);
  });

  it('is reported and skipped when an object has no version', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.send(
      '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}}\n',
    );
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_NO_RESOURCE_VERSION']);
    assert.equal(
      harness.take().some((line) => line.includes(' x@')),
      false,
    );
  });
});

describe('a line without an end', () => {
  it('C192 is abandoned when it is longer than any object, requested once more, and then replaced by a list', () => {
    const harness = new Harness().start().sync('10');
    const chunk = Buffer.alloc(16 * 2 ** 20, 'x');
    for (let round = 0; round < 2; round++) {
      const { exchange } = harness;
      exchange.head();
      for (let bytes = 0; bytes <= LINE_BYTES_MAX && !exchange.isClosed; bytes += chunk.length)
        exchange.send(chunk);
      assert.equal(exchange.isClosed, true);
    }
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_EVENT', 'ERR_KUBELOOM_MALFORMED_EVENT']);
    harness.clock.advance(800);
    assert.equal(harness.exchange.query['watch'], undefined);
  });
});

describe('a list without an end', () => {
  const HEAD = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[';

  for (const [what, begin, filler] of [
    ['an item', `${HEAD}{"metadata":{"name":"`, 'x'],
    ['the space between two items', `${HEAD}{"metadata":{"name":"a","resourceVersion":"5"}},`, ' '],
  ] as const) {
    it(`is abandoned when ${what} is longer than any object, and none of its items is used`, () => {
      const harness = new Harness().start();
      const { exchange } = harness;
      exchange.head().send(begin);
      const chunk = Buffer.alloc(16 * 2 ** 20, filler);
      for (let bytes = 0; bytes <= ITEM_BYTES_MAX && !exchange.isClosed; bytes += chunk.length)
        exchange.send(chunk);
      assert.equal(exchange.isClosed, true);
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_RESPONSE']);
      harness.clock.advance(800);
      harness.list('10', pod('b', '6'));
      harness.drain();
      assert.deepEqual(harness.replica.objects(), ['b@6']);
    });
  }

  for (const text of ['<html>', `${HEAD}1]`, `{"metadata":{"filler":"${'x'.repeat(2 ** 20)}`]) {
    it(`is abandoned as soon as it cannot be a list: ${text.slice(0, 30)} ${text.length}`, () => {
      const harness = new Harness().start();
      const { exchange } = harness;
      exchange.head().send(text);
      assert.equal(exchange.isClosed, true);
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_RESPONSE']);
    });
  }
});

describe('silence', () => {
  it('of a server that has sent a bookmark is detected when the next bookmarks are missing', () => {
    const harness = new Harness().start().sync('10');
    const watch = harness.exchange;
    watch.sendEvents(bookmark('11'));
    harness.clock.advance(BOOKMARK_SILENCE_MAX_MS - 1);
    assert.equal(watch.isClosed, false);
    harness.clock.advance(1);
    assert.equal(watch.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STALLED']);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
  });

  it('is measured from the request on with the configured limit, and closes idle connections', () => {
    const harness = new Harness().start({ watchIdleTimeoutMs: 2000 }).sync('10');
    const silent = harness.exchange;
    harness.clock.advance(1999);
    assert.equal(silent.isClosed, false);
    harness.clock.advance(1);
    assert.equal(silent.isClosed, true);
    assert.deepEqual(
      harness.transports.map(({ idleClosures }) => idleClosures),
      [1],
    );
    const unanswered = harness.exchange;
    assert.notEqual(unanswered, silent);
    harness.clock.advance(1999);
    assert.equal(unanswered.isClosed, false, 'connecting and the head have as long');
    harness.clock.advance(1);
    assert.equal(unanswered.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STALLED', 'ERR_KUBELOOM_STALLED']);
    assert.deepEqual(
      harness.transports.map(({ idleClosures }) => idleClosures),
      [2],
    );
  });
});

describe('the pages of a list', () => {
  it('that repeat in a cycle are given up, however long the cycle is', () => {
    for (const length of [1, 2, 7]) {
      const harness = new Harness().start();
      for (let page = 0; page < 40 && harness.errors().length === 0; page++) {
        const token = `token-${page % length}`;
        const metadata = { resourceVersion: '10', continue: token };
        harness.exchange
          .head()
          .send(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items: [] }));
        harness.exchange.end();
      }
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_RESPONSE'], `a circle of ${length}`);
    }
  });
});

/** A streaming list at work, and servers without streaming lists. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { END, Harness, bookmark, event } from './harness.ts';

const AUTO = { watchList: 'auto' } as const;

describe('a streaming list', () => {
  it('delivers its objects as items, ends with the bookmark and continues as the watch', () => {
    const harness = new Harness().start(AUTO);
    const stream = harness.exchange;
    assert.deepEqual(stream.query, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      timeoutSeconds: '300',
    });
    harness.exchange.stream(
      event('ADDED', 'a', '9'),
      event('ADDED', 'b', '3'),
      bookmark('10'),
      event('MODIFIED', 'b', '11'),
      event('ADDED', 'c', '12'),
      event('DELETED', 'a', '13'),
      bookmark('13', END),
      event('MODIFIED', 'c', '14'),
    );
    assert.deepEqual(harness.take(), [
      'ReplaceBegin 1',
      'Replaced a@9',
      'Replaced b@3',
      'Modified b@11',
      'Replaced c@12',
      'Deleted a@13',
      'ReplaceEnd 1@13',
      'Modified c@14',
    ]);
    assert.deepEqual(harness.replica.objects(), ['b@11', 'c@14']);
    harness.exchange.end();
    assert.equal(harness.exchanges.length, 2);
    assert.equal(harness.exchange.query['resourceVersion'], '14');
    assert.equal(harness.exchange.query['sendInitialEvents'], undefined);
  });

  it('resumes from its own version when nothing happened after it', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.stream(event('ADDED', 'a', '9'), bookmark('13', END));
    harness.clock.advance(5000);
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '13');
  });

  it('does not end at another value of the annotation', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.stream(bookmark('13', { 'k8s.io/initial-events-end': 'false' }));
    assert.deepEqual(harness.take(), ['ReplaceBegin 1']);
  });

  for (const status of [400, 405, 415, 422, 500]) {
    it(`falls back to a list without a report when the server answers ${status}`, () => {
      const harness = new Harness().start(AUTO);
      harness.exchange.fail(status, 'Invalid');
      assert.deepEqual(harness.exchange.query, { resourceVersion: '0', limit: '500' });
      harness.sync('10', 'a');
      assert.deepEqual(harness.errors(), []);
    });
  }

  it('C117 falls back to a list when a quiet server ignores the request', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.stream(event('ADDED', 'a', '9'));
    const stream = harness.exchange;
    harness.clock.advance(29_999);
    assert.equal(stream.isClosed, false);
    harness.clock.advance(1);
    assert.equal(stream.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_NO_END_BOOKMARK']);
    assert.equal(harness.exchange.isWatch, false);
    harness.sync('10', 'a');
    assert.deepEqual(harness.replica.objects(), ['a@10']);
  });

  it('C117 falls back to a list when a busy server ignores the request', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.head();
    const stream = harness.exchange;
    for (let second = 0; second < 299; second++) {
      stream.sendEvents(event('ADDED', `pod-${second}`, String(second + 1)));
      harness.drain();
      harness.clock.advance(1000);
      assert.equal(stream.isClosed, false);
    }
    harness.clock.advance(1000);
    assert.equal(stream.isClosed, true);
    assert.equal(harness.exchange.isWatch, false);
  });
});

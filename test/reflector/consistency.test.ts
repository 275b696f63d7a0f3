/** The check of a streaming list by a list at exactly its version, beside the watch. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeySpans, scanKey } from '../../src/json/key-spans.ts';
import { CHECK_ATTEMPTS_MAX } from '../../src/reflector/consistency-check.ts';
import { StreamedObjects } from '../../src/reflector/streamed-objects.ts';
import { END, Harness, bookmark, event, list, pod } from './harness.ts';
import type { FakeExchange } from './fake-transport.ts';

const CHECKED = { watchList: 'auto', checkConsistency: true } as const;

/** A streaming list of a, b and c at version 20; its watch goes on, and the check is asked for. */
function streamed(): { harness: Harness; watch: FakeExchange } {
  const harness = new Harness().start(CHECKED);
  const watch = harness.exchange;
  watch
    .head()
    .sendEvents(
      event('ADDED', 'a', '9'),
      event('ADDED', 'gone', '3'),
      event('ADDED', 'b', '5'),
      event('MODIFIED', 'b', '11'),
      event('ADDED', 'c', '12'),
      event('DELETED', 'gone', '13'),
      bookmark('20', END),
    );
  harness.drain();
  return { harness, watch };
}

function messageOf(harness: Harness): string {
  const last = harness.messages.findLast((message) => message.type === 'error');
  return last?.error.message ?? '';
}

describe('a checked streaming list', () => {
  it('C118 is compared with a list at exactly its version, page by page, and nothing is said when they agree', () => {
    const { harness, watch } = streamed();
    const check = harness.exchange;
    assert.deepEqual(check.query, {
      resourceVersion: '20',
      resourceVersionMatch: 'Exact',
      limit: '500',
    });
    check
      .head()
      .send(list('20', [pod('a', '9'), pod('b', '11')], 'token'))
      .end();
    assert.deepEqual(harness.exchange.query, { limit: '500', continue: 'token' });
    watch.sendEvents(event('MODIFIED', 'a', '21'));
    harness.exchange
      .head()
      .send(list('20', [pod('c', '12')]))
      .end();
    harness.drain();
    assert.deepEqual(harness.errors(), []);
    assert.equal(watch.isOpen, true);
    assert.equal(harness.exchanges.length, 3);
    assert.deepEqual(harness.replica.objects(), ['a@21', 'b@11', 'c@12']);
    assert.equal(harness.transports.length, 1);
  });

  it('C118 that differs is reported with the first keys, and the most recent state is listed', () => {
    const { harness, watch } = streamed();
    harness.exchange
      .head()
      .send(list('20', [pod('a', '8'), pod('c', '12'), pod('d', '2')]))
      .end();
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_INCONSISTENT_LIST']);
    assert.match(messageOf(harness), /version 20, differ in 3 of 3 objects/);
    assert.match(
      messageOf(harness),
      /only in the stream: default\/b; only in the list: default\/d; with another uid or version: default\/a;/,
    );
    assert.equal(watch.isClosed, true);
    assert.deepEqual(harness.exchange.query, { limit: '500' });
    harness.sync('30', 'x');
    assert.deepEqual(harness.replica.objects(), ['x@30']);
    assert.equal(harness.exchange.isWatch, true);
  });

  it('is not checked by default', () => {
    const harness = new Harness().start({ watchList: 'auto' });
    harness.exchange.head().sendEvents(event('ADDED', 'a', '9'), bookmark('20', END));
    assert.equal(harness.exchanges.length, 1);
  });

  it('is checked again from its first page when the list fails, with backoff, and the watch goes on', () => {
    const { harness, watch } = streamed();
    harness.exchange
      .head()
      .send(list('20', [pod('a', '9')], 'token'))
      .end();
    harness.exchange.fail(410, 'Expired');
    assert.equal(harness.clock.nextDelayMs, 800);
    harness.clock.advance(800);
    assert.equal(harness.exchange.query['resourceVersionMatch'], 'Exact');
    harness.exchange.refuse();
    harness.clock.advance(1600);
    harness.exchange.head().reset();
    harness.clock.advance(3200);
    harness.exchange
      .head()
      .send(list('20', [pod('a', '9'), pod('b', '11'), pod('c', '12')]))
      .end();
    assert.deepEqual(harness.errors(), []);
    assert.equal(watch.isOpen, true);
  });

  for (const [what, fail] of [
    ['fails', (check: FakeExchange) => check.fail(500, 'InternalError')],
    ['comes at another version', (check: FakeExchange) => check.head().send(list('21', [])).end()],
    ['is cut off', (check: FakeExchange) => check.head().send('{"kind":').end()],
  ] as const) {
    it(`is given up with a report when the list ${what} each time, and the watch goes on`, () => {
      const { harness, watch } = streamed();
      for (let attempt = 1; attempt <= CHECK_ATTEMPTS_MAX; attempt++) {
        assert.deepEqual(harness.errors(), []);
        fail(harness.exchange);
        harness.clock.advance(attempt < CHECK_ATTEMPTS_MAX ? 20_000 : 0);
      }
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_CONSISTENCY_UNCHECKED']);
      assert.equal(watch.isOpen, true);
      assert.equal(harness.exchanges.length, 1 + CHECK_ATTEMPTS_MAX);
    });
  }

  it('waits as long as the server says', () => {
    const { harness } = streamed();
    harness.exchange.fail(429, 'TooManyRequests', { 'retry-after': '30' });
    harness.clock.advance(29_999);
    assert.equal(harness.exchanges.length, 2);
    harness.clock.advance(1);
    assert.equal(harness.exchanges.length, 3);
  });

  it('is not checked any more once a new list has begun', () => {
    const { harness, watch } = streamed();
    const check = harness.exchange;
    watch.sendEvents({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    assert.equal(check.isOpen, true);
    harness.clock.advance(800);
    assert.equal(check.isClosed, true);
    assert.equal(harness.exchange.query['sendInitialEvents'], 'true');
  });

  it('leaves no request and no timer behind when the informer stops, in a request or in a backoff', () => {
    for (const isWaiting of [false, true]) {
      const { harness } = streamed();
      if (isWaiting) harness.exchange.refuse();
      harness.tell({ type: 'stop', informer: 1 });
      assert.ok(harness.exchanges.every(({ isOpen }) => !isOpen));
      assert.equal(harness.clock.pending, 0);
      assert.equal(harness.transports[0]?.isDisposed, true);
    }
  });

  it('finds a list that hangs, and credentials that never come', () => {
    const { harness } = streamed();
    harness.clock.advance(90_000);
    assert.equal(harness.exchange.isClosed, true);
    harness.clock.advance(800);
    assert.equal(harness.exchanges.length, 3);
  });
});

describe('streamed objects', () => {
  function spansOf(object: object): [Buffer, KeySpans] {
    const bytes = Buffer.from(JSON.stringify(object));
    const spans = new KeySpans();
    assert.ok(scanKey(bytes, 0, bytes.length, spans));
    return [bytes, spans];
  }
  const object = (name: string, uid: string): object => ({ metadata: { name, uid, resourceVersion: '1' } });

  it('C118 of the same name and version with another uid differ', () => {
    const objects = new StreamedObjects();
    objects.put(...spansOf(object('a', 'uid-1')));
    objects.compare();
    objects.listed(...spansOf(object('a', 'uid-2')));
    assert.match(objects.differences() ?? '', /another uid or version: a/);
    objects.compare();
    objects.listed(...spansOf(object('a', 'uid-1')));
    assert.equal(objects.differences(), undefined);
  });

  it('name a few of many that differ', () => {
    const objects = new StreamedObjects();
    for (let index = 0; index < 100; index++) objects.put(...spansOf(object(`pod-${index}`, 'u')));
    objects.compare();
    assert.equal(
      objects.differences(),
      '100 of 100 objects, among them only in the stream: pod-0, pod-1, pod-2',
    );
  });

  it('that a list has twice do not make up for one that it has not', () => {
    const objects = new StreamedObjects();
    for (const name of ['a', 'b']) objects.put(...spansOf(object(name, 'u')));
    objects.compare();
    for (const name of ['a', 'a']) objects.listed(...spansOf(object(name, 'u')));
    assert.match(objects.differences() ?? '', /only in the stream: b$/);
  });

  it('above the limit are not kept', () => {
    const objects = new StreamedObjects(2);
    for (const name of ['a', 'b']) objects.put(...spansOf(object(name, 'u')));
    assert.equal(objects.isTooMany, false);
    objects.put(...spansOf(object('c', 'u')));
    assert.equal(objects.isTooMany, true);
  });
});

/** One reflector at work, request by request: the test plays the server, the shards and the main thread. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Harness, bookmark, event, list, pod } from './harness.ts';

describe('a list and a watch', () => {
  it('become records in the order of the response, and the watch follows the list', () => {
    const harness = new Harness().start({ query: { labelSelector: 'app=web' } });
    assert.equal(harness.exchange.path, '/api/v1/pods');
    assert.deepEqual(harness.exchange.query, {
      labelSelector: 'app=web',
      resourceVersion: '0',
      limit: '500',
    });
    harness.exchange
      .head()
      .send(list('10', [pod('a', '3'), pod('b', '7')], 'token'))
      .end();
    assert.deepEqual(harness.exchange.query, { labelSelector: 'app=web', limit: '500', continue: 'token' });
    harness.list('10', pod('c', '9'));
    assert.deepEqual(harness.take(), [
      'ReplaceBegin 1',
      'Replaced a@3',
      'Replaced b@7',
      'Replaced c@9',
      'ReplaceEnd 1@10',
    ]);

    const watch = harness.exchange;
    assert.deepEqual(watch.query, {
      labelSelector: 'app=web',
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '10',
      timeoutSeconds: '300',
    });
    watch.stream(event('ADDED', 'd', '11'), event('MODIFIED', 'a', '12'));
    watch.sendEvents(event('DELETED', 'b', '13'), bookmark('20'));
    assert.deepEqual(harness.take(), ['Added d@11', 'Modified a@12', 'Deleted b@13', 'Bookmark 1@20']);
    assert.deepEqual(harness.replica.objects(), ['a@12', 'c@9', 'd@11']);
    assert.deepEqual(harness.errors(), []);
    assert.deepEqual(harness.phases(), ['connecting', 'listing', 'listing', 'connecting', 'watching']);
  });

  it('asks for a random time from the minimum to just below the maximum', () => {
    for (const [chance, least, seconds] of [
      [0, 300, '300'],
      [0.5, 300, '450'],
      [0.999999, 300, '599'],
      [0.999999, 1800, '3599'],
    ] as const) {
      const bounds = { watchTimeoutMinSeconds: least, watchTimeoutMaxSeconds: 2 * least };
      const harness = new Harness({ random: () => chance }).start(bounds).sync('10');
      assert.equal(harness.exchange.query['timeoutSeconds'], seconds);
    }
  });

  it('holds the resourceVersion back during the synthetic events of a watch without a version', () => {
    const harness = new Harness().start();
    // A server without resourceVersions in its lists leaves no other version to watch from.
    harness.list('');
    assert.equal(harness.exchange.query['resourceVersion'], undefined);
    harness.exchange.stream(event('ADDED', 'a', '90'), event('ADDED', 'b', '30')).end();
    assert.equal(harness.exchange.query['resourceVersion'], undefined);
    harness.exchange.stream(
      event('ADDED', 'a', '90'),
      event('MODIFIED', 'b', '95'),
      event('ADDED', 'c', '96'),
    );
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '96');
  });

  it('aborts the epoch of an interrupted list and begins a new one', () => {
    const harness = new Harness().start();
    const body = list('10', [pod('a', '3'), pod('b', '7')]);
    harness.exchange.head().send(body.slice(0, -30)).reset();
    assert.deepEqual(harness.take(), ['ReplaceBegin 1', 'Replaced a@3', 'ReplaceAbort 1']);
    harness.clock.advance(800);
    harness.exchange.head().send(body).end();
    assert.deepEqual(harness.take(), ['ReplaceBegin 2', 'Replaced a@3', 'Replaced b@7', 'ReplaceEnd 2@10']);
  });

  for (const [what, body] of [
    ['truncated but ends in order', list('10', [pod('a', '3')]).slice(0, -1)],
    [
      'a Table',
      '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"rows":[]}',
    ],
    ['no JSON', '<html>login</html>'],
  ] as const) {
    it(`does not take a list that is ${what} for an empty one`, () => {
      const harness = new Harness().start();
      harness.exchange.head().send(body).end();
      assert.equal(harness.take().at(-1), 'ReplaceAbort 1');
      assert.match(harness.errors().join(), /^ERR_KUBELOOM_(TRUNCATED|MALFORMED_RESPONSE)$/);
      assert.equal(harness.clock.nextDelayMs, 800);
    });
  }
});

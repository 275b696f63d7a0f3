/** One reflector at work, request by request: the test is the server, the shards and the main thread. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeloomError } from '../../src/errors.ts';
import type { FromReflector } from '../../src/threads/protocol.ts';
import { END, Harness, bookmark, errorEvent, event, list, pod } from './harness.ts';

const AUTO = { watchList: 'auto' } as const;

describe('a list and a watch', () => {
  it('become records in the order of the wire, and the watch follows the list', () => {
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
    harness.exchange
      .head()
      .send(list('10', [pod('c', '9')]))
      .end();
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
    watch.head().sendEvents(event('ADDED', 'd', '11'), event('MODIFIED', 'a', '12'));
    watch.sendEvents(event('DELETED', 'b', '13'), bookmark('20'));
    assert.deepEqual(harness.take(), ['Added d@11', 'Modified a@12', 'Deleted b@13', 'Bookmark 1@20']);
    assert.deepEqual(harness.replica.objects(), ['a@12', 'c@9', 'd@11']);
    assert.deepEqual(harness.errors(), []);
    assert.deepEqual(harness.phases(), ['connecting', 'listing', 'listing', 'connecting', 'watching']);
  });

  it('asks for a random time between the bounds of the informer', () => {
    const harness = new Harness({ random: () => 0.5 }).start().sync('10');
    assert.equal(harness.exchange.query['timeoutSeconds'], '450');
  });

  it('goes on from the last bookmark or event, whichever came last', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents(event('ADDED', 'a', '11'), bookmark('20'));
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '20');
    harness.exchange
      .head()
      .sendEvents(bookmark('21'), event('ADDED', 'b', '33'))
      .end();
    assert.equal(harness.exchange.query['resourceVersion'], '33');
    assert.equal(harness.exchanges.filter(({ isWatch }) => !isWatch).length, 1);
  });

  it('never delivers a line that was torn, and gets it whole from where it was', () => {
    const harness = new Harness().start().sync('10', 'a');
    const line = JSON.stringify(event('MODIFIED', 'a', '12'));
    harness.exchange
      .sendEvents(event('ADDED', 'b', '11'))
      .send(line)
      .reset();
    assert.deepEqual(harness.take().slice(-1), ['Added b@11']);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_CONNECTION_RESET']);
    harness.exchange.head().send(`${line}\n`);
    assert.deepEqual(harness.take(), ['Modified a@12']);
  });

  it('holds the resourceVersion back while a watch from nowhere makes its beginning up', () => {
    const harness = new Harness().start();
    // A server without resourceVersions in its lists leaves nothing else to watch from.
    harness.exchange.head().send(list('', [])).end();
    assert.equal(harness.exchange.query['resourceVersion'], undefined);
    harness.exchange
      .head()
      .sendEvents(event('ADDED', 'a', '90'), event('ADDED', 'b', '30'))
      .end();
    assert.equal(harness.exchange.query['resourceVersion'], undefined);
    harness.exchange
      .head()
      .sendEvents(event('ADDED', 'a', '90'), event('MODIFIED', 'b', '95'), event('ADDED', 'c', '96'));
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '96');
  });

  for (const [form, expire] of [
    ['an answer', (harness: Harness) => harness.exchange.end()],
    ['an event', (harness: Harness) => harness.exchange.sendEvents(errorEvent(410, 'Expired'))],
  ] as const) {
    it(`lists again at its last version when that has expired, said in ${form}`, () => {
      const harness = new Harness().start().sync('10', 'a', 'b');
      harness.exchange.sendEvents(event('ADDED', 'c', '11'));
      expire(harness);
      if (form === 'an answer') harness.exchange.fail(410, 'Expired');
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_GONE']);
      assert.equal(harness.clock.nextDelayMs, 800);
      harness.clock.advance(800);
      assert.deepEqual(harness.exchange.query, { resourceVersion: '11' });
      harness.exchange
        .head()
        .send(list('50', [pod('a', '40')]))
        .end();
      harness.drain();
      assert.deepEqual(harness.replica.objects(), ['a@40']);
      assert.equal(harness.exchange.query['resourceVersion'], '50');
    });
  }

  it('survives a server that is restarted: watches on without a list', () => {
    const harness = new Harness().start().sync('10', 'a');
    harness.exchange.reset();
    // The server is gone within a second, without an event: that alone would be a failure.
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_VERY_SHORT_WATCH']);
    harness.clock.advance(800);
    harness.exchange
      .head()
      .send(list('10', [pod('a', '10')]))
      .end();
    harness.exchange
      .head()
      .sendEvents(event('ADDED', 'b', '11'))
      .reset();
    for (const delayMs of [1600, 3200, 6400]) {
      harness.exchange.refuse();
      assert.equal(harness.clock.nextDelayMs, delayMs);
      harness.clock.advance(delayMs);
      assert.equal(harness.exchange.query['resourceVersion'], '11');
      assert.ok(harness.exchange.isWatch);
    }
    harness.exchange.head().sendEvents(event('MODIFIED', 'a', '12'));
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@12', 'b@11']);
  });

  it('waits as long as Retry-After says, in an answer and in an event', () => {
    const harness = new Harness().start();
    harness.exchange.fail(429, 'TooManyRequests', { 'retry-after': '7' });
    assert.equal(harness.clock.nextDelayMs, 7000);
    harness.clock.advance(7000);
    harness.sync('10');
    harness.exchange.sendEvents(errorEvent(429, 'TooManyRequests', { retryAfterSeconds: 9 }));
    assert.equal(harness.clock.nextDelayMs, 9000);
    harness.clock.advance(9000);
    assert.equal(harness.exchange.isWatch, true);
    assert.equal(harness.exchange.query['resourceVersion'], '10');
  });

  for (const status of [401, 403, 404, 500, 503]) {
    it(`is not stopped by ${status}: reports it, waits and lists again`, () => {
      const harness = new Harness().start();
      harness.exchange.fail(status, 'Whatever');
      assert.equal(harness.errors().length, 1);
      harness.clock.advance(800);
      harness.sync('10', 'a');
      harness.exchange.end();
      harness.clock.advance(1600);
      harness.exchange.fail(status, 'Whatever');
      assert.equal(harness.exchange.isOpen, false);
      harness.clock.advance(60_000);
      assert.deepEqual(harness.exchange.query, { resourceVersion: '10' });
    });
  }

  it('aborts the epoch of a list that breaks off and begins a new one', () => {
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
      assert.match(harness.errors().join(), /^ERR_KUBELOOM_LIST_(TRUNCATED|MALFORMED)$/);
      assert.equal(harness.clock.nextDelayMs, 800);
    });
  }
});

describe('a streaming list', () => {
  it('delivers its objects as items, ends with the bookmark and goes on as the watch', () => {
    const harness = new Harness().start(AUTO);
    const stream = harness.exchange;
    assert.deepEqual(stream.query, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      timeoutSeconds: '300',
    });
    harness.exchange
      .head()
      .sendEvents(
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

  it('goes on from its own version when nothing happened after it', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.head().sendEvents(event('ADDED', 'a', '9'), bookmark('13', END));
    harness.clock.advance(5000);
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '13');
  });

  it('does not take another value of the annotation for the end', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.head().sendEvents(bookmark('13', { 'k8s.io/initial-events-end': 'false' }));
    assert.deepEqual(harness.take(), ['ReplaceBegin 1']);
  });

  it('is begun anew when it is cut off before its end', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange
      .head()
      .sendEvents(event('ADDED', 'a', '9'))
      .reset();
    assert.deepEqual(harness.take(), ['ReplaceBegin 1', 'Replaced a@9', 'ReplaceAbort 1']);
    assert.equal(harness.exchange.query['sendInitialEvents'], 'true');
    harness.exchange.head().sendEvents(event('ADDED', 'b', '15'), bookmark('20', END));
    assert.deepEqual(harness.take(), ['ReplaceBegin 2', 'Replaced b@15', 'ReplaceEnd 2@20']);
  });

  for (const status of [400, 405, 415, 422, 500]) {
    it(`falls back to a list without a word when the server answers ${status}`, () => {
      const harness = new Harness().start(AUTO);
      harness.exchange.fail(status, 'Invalid');
      assert.deepEqual(harness.exchange.query, { resourceVersion: '0', limit: '500' });
      harness.sync('10', 'a');
      assert.deepEqual(harness.errors(), []);
    });
  }

  it('falls back to a list when a quiet server ignores what was asked', () => {
    const harness = new Harness().start(AUTO);
    harness.exchange.head().sendEvents(event('ADDED', 'a', '9'));
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

  it('falls back to a list when a busy server ignores what was asked', () => {
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

describe('bad input', () => {
  it('a malformed line is reported, and reading resumes from the last good version', () => {
    const harness = new Harness().start().sync('10');
    const watch = harness.exchange;
    watch.sendEvents(event('ADDED', 'a', '11')).send('{"type":"ADDED","object":{"kind":"Po\n');
    watch.sendEvents(event('ADDED', 'c', '13'));
    assert.equal(watch.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_EVENT']);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
    harness.exchange.head().sendEvents(event('ADDED', 'b', '12'), event('ADDED', 'c', '13'));
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@11', 'b@12', 'c@13']);
  });

  it('a line that is malformed each time leads to a list, after a backoff, and nothing is lost', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.send('garbage\n');
    harness.exchange.head().send('garbage\n');
    assert.equal(harness.exchange.isClosed, true);
    assert.equal(harness.clock.nextDelayMs, 800);
    harness.clock.advance(800);
    assert.deepEqual(harness.exchange.query, { resourceVersion: '10' });
    harness.exchange
      .head()
      .send(list('20', [pod('a', '15')]))
      .end();
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@15']);
  });

  it('an object without a name is reported and skipped, and the position does not move', () => {
    const harness = new Harness().start();
    harness.exchange
      .head()
      .send(list('10', [pod('a', '3'), { metadata: { namespace: 'x' } }, pod('b', '4')]))
      .end();
    harness.exchange
      .head()
      .sendEvents({ type: 'ADDED', object: { kind: 'Pod', metadata: { resourceVersion: '11' } } });
    assert.deepEqual(harness.errors(), [
      'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
      'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
    ]);
    harness.clock.advance(2000);
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '10');
    harness.exchange
      .head()
      .sendEvents({ type: 'ADDED', object: {} }, event('ADDED', 'c', '12'))
      .end();
    assert.equal(harness.exchange.query['resourceVersion'], '12');
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@3', 'b@4', 'c@12']);
  });

  it('what is not of the informer\u2019s kind, or of no known type, is reported and skipped', () => {
    const harness = new Harness().start().sync('10');
    const stranger = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', resourceVersion: '11' } };
    const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, rows: [] };
    harness.exchange.sendEvents(
      { type: 'ADDED', object: stranger },
      { type: 'ADDED', object: table },
      { type: 'FOO', object: stranger },
      { type: 'ADDED', object: { metadata: { name: 'n'.repeat(2000) } } },
      event('ADDED', 'a', '12'),
    );
    assert.deepEqual(harness.errors(), [
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
      'ERR_KUBELOOM_UNKNOWN_EVENT_TYPE',
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
    ]);
    assert.deepEqual(harness.take().slice(-1), ['Added a@12']);
    assert.equal(harness.exchange.isClosed, false);
  });

  it('a bookmark without a resourceVersion, or with an endless one, is malformed', () => {
    for (const resourceVersion of ['', '9'.repeat(97)]) {
      const harness = new Harness().start().sync('10');
      harness.exchange.sendEvents(bookmark(resourceVersion));
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_EVENT']);
    }
  });

  it('an event too long to be kept arrives as its identity, with its neighbours around it', () => {
    const harness = new Harness().start({ recordBytesMax: 500 }).sync('10');
    harness.exchange.sendEvents(event('ADDED', 'a', '11'));
    harness.exchange.sendEvents(event('MODIFIED', 'large', '12', 2000));
    harness.exchange.sendEvents(event('MODIFIED', 'huge', '13', 2 ** 21));
    harness.exchange.sendEvents(event('ADDED', 'b', '14'));
    harness.drain();
    const seen = harness.records.slice(-4).map(({ name, flags, json }) => [name, flags, json.length < 500]);
    assert.deepEqual(seen, [
      ['a', 0, true],
      ['large', 1, true],
      ['huge', 1, true],
      ['b', 0, true],
    ]);
    assert.deepEqual(harness.replica.objects(), ['a@11', 'b@14', 'huge@13', 'large@12']);
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '14');
  });

  it('an item too long to be kept arrives as its identity', () => {
    const harness = new Harness().start({ recordBytesMax: 500 });
    harness.exchange
      .head()
      .send(list('10', [pod('a', '3'), pod('huge', '4', 2 ** 21), pod('b', '5')]))
      .end();
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@3', 'b@5', 'huge@4']);
  });

  it('a flood of wrong objects does not become a flood of messages', () => {
    const harness = new Harness().start().sync('10');
    for (let count = 0; count < 1000; count++) harness.exchange.sendEvents({ type: 'ADDED', object: {} });
    assert.equal(harness.errors().length, 10);
    harness.clock.advance(1000);
    harness.exchange.sendEvents({ type: 'ADDED', object: {} });
    const last = harness.messages.findLast((message) => message.type === 'error');
    assert.deepEqual(last?.error.details, { suppressed: 990 });
  });
});

describe('silence', () => {
  it('closes a watch whose server has not even answered, and resumes it', () => {
    const harness = new Harness().start().sync('10', 'a');
    harness.exchange.sendEvents(event('ADDED', 'b', '11'));
    harness.exchange.end();
    const silent = harness.exchange;
    harness.clock.advance(329_999);
    assert.equal(silent.isClosed, false);
    harness.clock.advance(1);
    assert.equal(silent.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STALLED']);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
  });

  it('closes a watch that has gone silent in the middle, and loses nothing', () => {
    const harness = new Harness().start().sync('10', 'a');
    const silent = harness.exchange;
    harness.clock.advance(200_000);
    silent.sendEvents(event('ADDED', 'b', '11')).send('{"type":');
    harness.clock.advance(330_000);
    assert.equal(silent.isClosed, true);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
  });

  it('gives up a list that does not come', () => {
    const harness = new Harness().start();
    harness.exchange.head().send('{"kind":"PodList",');
    harness.clock.advance(90_000);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STALLED']);
    assert.deepEqual(harness.take(), ['ReplaceBegin 1', 'ReplaceAbort 1']);
    harness.clock.advance(800);
    assert.equal(harness.exchanges.length, 2);
  });

  it('lets the transport wait longer than our own limit', () => {
    const harness = new Harness().start().sync('10');
    assert.equal(harness.exchange.timeoutMs, 340_000);
  });
});

describe('preparing', () => {
  it('asks the main thread before every request and uses what it answers', () => {
    const other = { server: 'https://other', headers: {} };
    const harness = new Harness({
      prepare: ({ request, verb, query }) => ({
        type: 'prepared',
        request,
        connection: other,
        query: { ...query, tweaked: verb },
      }),
    }).start();
    assert.equal(harness.exchange.query['tweaked'], 'list');
    harness.sync('10');
    assert.equal(harness.exchange.query['tweaked'], 'watch');
    const asked = harness.messages.filter(({ type }) => type === 'prepare');
    assert.equal(asked.length, 2);
  });

  it('waits and watches on when credentials cannot be had', () => {
    let isBroken = false;
    const harness = new Harness({
      prepare: ({ request }) =>
        isBroken
          ? {
              type: 'prepared',
              request,
              error: { code: 'ERR_KUBELOOM_CREDENTIALS', message: 'the plugin failed' },
            }
          : { type: 'prepared', request, connection: { server: 'https://server', headers: {} } },
    })
      .start()
      .sync('10', 'a');
    isBroken = true;
    harness.exchange.sendEvents(event('ADDED', 'b', '11')).end();
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_CREDENTIALS']);
    isBroken = false;
    harness.clock.advance(800);
    assert.equal(harness.exchange.isWatch, true);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
  });

  it('ignores answers to requests that nobody waits for any more', () => {
    const harness = new Harness({ prepare: () => undefined }).start();
    harness.tell({ type: 'prepared', request: 99, connection: { server: 'https://server', headers: {} } });
    harness.tell({ type: 'stop', informer: 1 });
    harness.tell({ type: 'prepared', request: 1, connection: { server: 'https://server', headers: {} } });
    assert.equal(harness.exchanges.length, 0);
  });

  it('uses one transport for equal connections and disposes of it after its last informer', () => {
    let token = 'one';
    const harness = new Harness({
      prepare: ({ request }) => ({
        type: 'prepared',
        request,
        connection: { headers: { b: '1', authorization: token }, server: 'https://server' },
      }),
    });
    harness.start({}, 1).start({}, 2);
    assert.equal(harness.transports.length, 1);
    token = 'two';
    harness.exchanges[0]?.fail(500, 'Whatever');
    harness.clock.advance(800);
    assert.equal(harness.transports.length, 2);
    assert.equal(harness.transports[0]?.isDisposed, false);
    harness.exchanges[1]?.fail(500, 'Whatever');
    harness.clock.advance(800);
    assert.equal(harness.transports.length, 2);
    assert.equal(harness.transports[0]?.isDisposed, true);
    harness.tell({ type: 'stop', informer: 1 });
    assert.equal(harness.transports[1]?.isDisposed, false);
    harness.tell({ type: 'stop', informer: 2 });
    assert.equal(harness.transports[1]?.isDisposed, true);
  });
});

describe('the end', () => {
  it('stop closes the request, detaches the informer and says so', () => {
    const harness = new Harness().start().sync('10', 'a');
    assert.equal(harness.thread.isIdle, false);
    harness.tell({ type: 'stop', informer: 1 });
    assert.equal(harness.exchange.isClosed, true);
    assert.equal(harness.take().at(-1), 'Detach 1');
    assert.deepEqual(harness.messages.at(-1), { type: 'stopped', informer: 1 });
    assert.equal(harness.thread.isIdle, true);
    assert.equal(harness.clock.pending, 0);
  });

  it('stop ends a backoff', () => {
    const harness = new Harness().start();
    harness.exchange.refuse();
    harness.tell({ type: 'stop', informer: 1 });
    assert.equal(harness.clock.pending, 0);
    assert.equal(harness.messages.at(-1)?.type, 'stopped');
  });

  it('shutdown leaves no request, timer or transport and says closed at last', async () => {
    let resolve: () => void = () => undefined;
    const closed = new Promise<void>((resolveClosed) => (resolve = resolveClosed));
    const onMessage = ({ type }: FromReflector): void => {
      if (type === 'closed') resolve();
    };
    const harness = new Harness({ onMessage }).start({}, 1).start({}, 2);
    harness.exchange.refuse();
    harness.tell({ type: 'shutdown' });
    harness.tell({ type: 'shutdown' });
    await closed;
    assert.ok(harness.exchanges.every(({ isOpen }) => !isOpen));
    assert.ok(harness.transports.every(({ isDisposed }) => isDisposed));
    assert.equal(harness.clock.pending, 0);
    assert.equal(harness.messages.filter(({ type }) => type === 'closed').length, 1);
    harness.start({}, 3);
    assert.equal(harness.exchanges.length, 2);
  });

  it('an informer that is started twice is a mistake of the main thread', () => {
    const harness = new Harness().start();
    assert.throws(() => harness.start(), KubeloomError);
  });
});

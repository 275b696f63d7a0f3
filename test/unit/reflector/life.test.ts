/** Silence, credentials and the end of a reflector. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeloomError } from '../../../src/base/errors.ts';
import type { FromReflector } from '../../../src/shared/protocol.ts';
import { Harness, event } from './harness.ts';

describe('silence', () => {
  it('closes a watch that has gone silent in the middle, and loses nothing', () => {
    const harness = new Harness().start().sync('10', 'a');
    const silent = harness.exchange;
    harness.clock.advance(200_000);
    silent.sendEvents(event('ADDED', 'b', '11')).send('{"type":');
    harness.clock.advance(305_000);
    assert.equal(silent.isClosed, true);
    assert.equal(harness.exchange.query['resourceVersion'], '11');
  });

  it('closes a connection without an answer: its handshake hangs, or its server accepts and never answers', () => {
    for (const [watchList, limitMs] of [
      ['off', 90_000],
      ['auto', 305_000],
    ] as const) {
      const harness = new Harness().start({ watchList });
      harness.clock.advance(limitMs - 1);
      assert.equal(harness.exchange.isClosed, false);
      harness.clock.advance(1);
      assert.equal(harness.exchanges[0]?.isClosed, true);
      assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_STALLED']);
    }
  });

  it('closes a streaming list that sends bytes but never a whole event', () => {
    const harness = new Harness().start({ watchList: 'auto' });
    const stream = harness.exchange.head();
    for (let second = 0; second < 30; second++) {
      stream.send(' ');
      harness.clock.advance(1000);
    }
    assert.equal(stream.isClosed, true);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_NO_END_BOOKMARK']);
  });

  it('C121 of the main thread when it is asked for credentials is a failure, and they are requested again', () => {
    const harness = new Harness({ prepare: () => undefined }).start();
    harness.clock.advance(89_999);
    assert.deepEqual(harness.errors(), []);
    harness.clock.advance(1);
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_CREDENTIALS']);
    harness.tell({ type: 'prepared', request: 1, connection: { server: 'https://server', headers: {} } });
    assert.equal(harness.exchanges.length, 0, 'too late');
    harness.clock.advance(800);
    assert.equal(harness.messages.filter(({ type }) => type === 'prepare').length, 2);
    harness.tell({ type: 'stop', informer: 1 });
    assert.equal(harness.clock.pending, 0);
  });

  it('gives up a list that does not arrive', () => {
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
    assert.equal(harness.exchange.timeoutMs, 315_000);
  });
});

describe('preparing', () => {
  it('asks the main thread before every request and uses its answer', () => {
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

  it('waits and resumes the watch when there are no credentials', () => {
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

  it('reports unusable connection options, and tries again', () => {
    let server = 'not an address';
    const harness = new Harness({
      prepare: ({ request }) => ({ type: 'prepared', request, connection: { server, headers: {} } }),
    }).start();
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_KUBECONFIG']);
    server = 'https://server';
    harness.clock.advance(800);
    harness.sync('10', 'a');
    assert.deepEqual(harness.replica.objects(), ['a@10']);
  });

  it('ignores answers to requests that were closed', () => {
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
  it('stop closes the request, detaches the informer and posts it', () => {
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

  it('shutdown leaves no request, timer or transport and posts closed at the end', async () => {
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

  it('an informer that is started twice is an assertion error', () => {
    const harness = new Harness().start();
    assert.throws(() => harness.start(), KubeloomError);
  });
});

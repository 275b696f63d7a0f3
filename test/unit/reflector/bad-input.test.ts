/** Bad input from servers: it is reported with a code, and no good object is lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Harness, bookmark, event, pod } from './harness.ts';

function job(name: string, resourceVersion: string): object {
  return { kind: 'Job', apiVersion: 'batch/v1', ...pod(name, resourceVersion) };
}

describe('bad input', () => {
  it('an object without a name is reported and skipped, and the position does not move', () => {
    const harness = new Harness().start();
    harness.list('10', pod('a', '3'), { metadata: { namespace: 'x' } }, pod('b', '4'));
    harness.exchange.stream({ type: 'ADDED', object: { kind: 'Pod', metadata: { resourceVersion: '11' } } });
    assert.deepEqual(harness.errors(), [
      'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
      'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
    ]);
    harness.clock.advance(2000);
    harness.exchange.end();
    assert.equal(harness.exchange.query['resourceVersion'], '10');
    harness.exchange.stream({ type: 'ADDED', object: {} }, event('ADDED', 'c', '12')).end();
    assert.equal(harness.exchange.query['resourceVersion'], '12');
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@3', 'b@4', 'c@12']);
  });

  it('C72 an object of another version of the kind is reported and skipped, and does not count', () => {
    const harness = new Harness().start({ kind: 'Job', apiVersion: 'batch/v1' });
    harness.list('10', { ...job('old', '3'), apiVersion: 'batch/v1beta1' }, pod('bare', '4'));
    const watch = harness.exchange.head();
    watch.sendEvents(
      { type: 'ADDED', object: { ...job('a', '11'), apiVersion: 'batch/v1beta1' } },
      { type: 'ADDED', object: { ...job('a', '12'), apiVersion: 'batch/v10' } },
      { type: 'DELETED', object: { apiVersion: 'batch/v1beta1', kind: 'Job', ...pod('bare', '12') } },
    );
    assert.deepEqual(
      harness.errors(),
      Array.from({ length: 4 }, () => 'ERR_KUBELOOM_UNEXPECTED_OBJECT'),
    );
    harness.clock.advance(10);
    watch.end();
    // The watch made no progress: it brought no event within a second.
    assert.equal(harness.errors().at(-1), 'ERR_KUBELOOM_VERY_SHORT_WATCH');
    assert.deepEqual(harness.take(), ['ReplaceBegin 1', 'Replaced bare@4', 'ReplaceEnd 1@10']);
  });

  for (const [what, metadata] of [
    ['a slash in its name', '"name":"a/b"'],
    ['an escaped slash in its name', '"name":"a\\u002fb"'],
    ['a slash in its namespace', '"name":"b","namespace":"x/a"'],
    ['bytes in its name that are not UTF-8', '"name":"x\xff"'],
    ['bytes in its namespace that are not UTF-8', '"name":"x","namespace":"y\xfe"'],
    ['such bytes beside an escape', '"name":"\\u0061\xff"'],
    ['half a surrogate pair in its name', '"name":"\\ud800"'],
    ['half a surrogate pair as bytes', '"name":"\xed\xa0\x80"'],
  ] as const) {
    it(`C72 an object with ${what} is reported and skipped, in lists, streams and when it is too long`, () => {
      const objectOf = (version: string, more = ''): string =>
        `{"kind":"Pod","apiVersion":"v1","metadata":{${metadata},"resourceVersion":"${version}"}${more}}`;
      const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
      const lineOf = (object: string): Buffer => bytesOf(`{"type":"ADDED","object":${object}}\n`);
      const harness = new Harness().start({ objectBytesMax: 500 });
      const items = [JSON.stringify(pod('a', '3')), objectOf('4'), JSON.stringify(pod('b', '5'))];
      const head = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"}';
      harness.exchange
        .head()
        .send(bytesOf(`${head},"items":[${items.join(',')}]}`))
        .end();
      const watch = harness.exchange.head();
      watch.send(lineOf(objectOf('11'))).sendEvents(event('ADDED', 'c', '12'));
      watch.send(lineOf(objectOf('13', `,"spec":"${'x'.repeat(600)}"`)));
      watch.send(lineOf(objectOf('14', `,"spec":"${'x'.repeat(2 ** 21)}"`)));
      watch.sendEvents(event('ADDED', 'd', '15'));
      harness.drain();
      assert.deepEqual(
        harness.errors(),
        Array.from({ length: 4 }, () => 'ERR_KUBELOOM_UNEXPECTED_OBJECT'),
      );
      assert.equal(watch.isClosed, false);
      assert.deepEqual(harness.replica.objects(), ['a@3', 'b@5', 'c@12', 'd@15']);
    });
  }

  it('unusual names that form one key each are accepted', () => {
    const harness = new Harness().start().sync('10');
    const names = ['\u00fc', '\u{1f600}', '\ufffd', '"', '\\', 'a:b', 'a%2fb', '\u0000'];
    harness.exchange.sendEvents(...names.map((name, at) => event('ADDED', name, String(11 + at))));
    harness.drain();
    assert.deepEqual(harness.errors(), []);
    assert.equal(harness.replica.objects().length, names.length);
  });

  for (const [form, object] of [
    ['in Go’s order', { kind: 'Job', apiVersion: 'batch/v1', ...pod('a', '12') }],
    ['sorted', { apiVersion: 'batch/v1', kind: 'Job', ...pod('a', '12') }],
    ['at its end', { ...pod('a', '12'), kind: 'Job', apiVersion: 'batch/v1' }],
    ['behind something else', { status: {}, kind: 'Job', ...pod('a', '12'), apiVersion: 'batch/v1' }],
    ['not at all', { spec: '', metadata: pod('a', '12').metadata }],
  ] as const) {
    it(`an object that states its kind ${form} is accepted`, () => {
      const harness = new Harness().start({ kind: 'Job', apiVersion: 'batch/v1' }).sync('10');
      harness.exchange.sendEvents({ type: 'ADDED', object });
      assert.deepEqual(harness.take().slice(-1), ['Added a@12']);
      assert.deepEqual(harness.errors(), []);
    });
  }

  it('a custom resource of kind Table is an ordinary object', () => {
    const harness = new Harness().start({ kind: 'Table', apiVersion: 'custom.group/v1' }).sync('10');
    const { metadata } = pod('a', '12');
    harness.exchange.sendEvents(
      { type: 'ADDED', object: { kind: 'Table', apiVersion: 'custom.group/v1', metadata } },
      { type: 'ADDED', object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata } },
      { type: 'ADDED', object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1beta1', metadata } },
    );
    assert.deepEqual(harness.take().slice(-1), ['Added a@12']);
    assert.equal(harness.errors().length, 2);
  });

  it('an event of an unknown type is reported, counts, and moves the position as client-go does', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents({ type: 'PATCHED', object: job('a', '12') }).end();
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_EVENT']);
    assert.equal(harness.exchange.query['resourceVersion'], '12');
    harness.exchange.stream({ type: 'PATCHED', object: {} }).end();
    assert.equal(harness.exchange.query['resourceVersion'], '12');
  });

  it('a bookmark without a resourceVersion is malformed', () => {
    const harness = new Harness().start().sync('10');
    harness.exchange.sendEvents(bookmark(''));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_MALFORMED_EVENT']);
  });

  it('C262 a version of any length is a position, up to the limits, whose names the error gives', () => {
    const long = 'v'.repeat(3000);
    const harness = new Harness().start({ objectBytesMax: 5000 }).sync(`${long}l`);
    harness.exchange.sendEvents(event('ADDED', 'a', `${long}a`)).end();
    assert.equal(harness.exchange.query['resourceVersion'], `${long}a`);
    harness.exchange.stream(bookmark(`${long}b`)).end();
    assert.equal(harness.exchange.query['resourceVersion'], `${long}b`);
    const quoted = String.raw`with "\ in it`;
    harness.exchange.stream(event('ADDED', 'a', quoted)).end();
    assert.equal(harness.exchange.query['resourceVersion'], quoted);
    assert.deepEqual(harness.errors(), []);
    harness.exchange.stream(bookmark('v'.repeat(5001)));
    assert.deepEqual(harness.errors(), ['ERR_KUBELOOM_OBJECT_TOO_LARGE']);
  });

  it('an event above the limit arrives as its identity, in order with its neighbours', () => {
    const harness = new Harness().start({ objectBytesMax: 500 }).sync('10');
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

  it('an item above the limit arrives as its identity', () => {
    const harness = new Harness().start({ objectBytesMax: 500 });
    harness.list('10', pod('a', '3'), pod('huge', '4', 2 ** 21), pod('b', '5'));
    harness.drain();
    assert.deepEqual(harness.replica.objects(), ['a@3', 'b@5', 'huge@4']);
  });

  it('a flood of wrong objects does not cause a flood of messages', () => {
    const harness = new Harness().start().sync('10');
    for (let count = 0; count < 1000; count++) harness.exchange.sendEvents({ type: 'ADDED', object: {} });
    assert.equal(harness.errors().length, 10);
    harness.clock.advance(1000);
    harness.exchange.sendEvents({ type: 'ADDED', object: {} });
    const last = harness.messages.findLast((message) => message.type === 'error');
    assert.deepEqual(last?.error.details, { suppressed: 990 });
  });
});

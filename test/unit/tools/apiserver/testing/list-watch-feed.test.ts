/** The two ends of a user's ListerWatcher, without threads: their requests, their answers, and their back pressure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeloomError } from '../../../../../src/base/errors.ts';
import type {
  KubeList,
  ListOptions,
  ListerWatcher,
  Watch,
  WatchEvent,
} from '../../../../../src/kube/lister-watcher.ts';
import { WINDOW_BYTES, ListWatchFeed } from '../../../../../src/informer/threads/list-watch-feed.ts';
import { FeedTransports } from '../../../../../src/reflector/feed-transport.ts';
import type {
  FeedAnswer,
  FromReflectorThread,
  ToReflector,
  ToReflectorThread,
} from '../../../../../src/shared/protocol.ts';
import { RecordingSink } from '../../../http/recording-sink.ts';
import { until } from './sourced-informer.ts';

interface Thing {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

function thing(version: number, padding = ''): Thing {
  return { metadata: { name: `thing${padding}`, resourceVersion: String(version) } };
}

/** One feed, and every message that it posted. */
class FeedScene {
  readonly answers: FeedAnswer[] = [];
  readonly errors: KubeloomError[] = [];
  readonly feed: ListWatchFeed;

  constructor(source: Partial<ListerWatcher<unknown>>) {
    const refuse = (): Promise<never> => Promise.reject(new Error('not requested'));
    this.feed = new ListWatchFeed(
      { list: refuse, watch: refuse, ...source },
      {
        informer: 7,
        post: (answer) => void this.answers.push(answer),
        onError: (error) => void this.errors.push(error),
      },
    );
  }

  open(path: string, request = 1): void {
    this.feed.receive({ type: 'feed', informer: 7, request, part: 'open', path });
  }

  /** Opens a request and resolves when it is answered. */
  async answered(path: string, request = 1): Promise<void> {
    this.open(path, request);
    await until(() => this.end !== undefined);
  }

  taken(bytes: number): void {
    this.feed.receive({ type: 'feed', informer: 7, request: 1, part: 'taken', bytes });
  }

  close(): void {
    this.feed.receive({ type: 'feed', informer: 7, request: 1, part: 'close' });
  }

  get chunks(): readonly Uint8Array[] {
    return this.answers.flatMap((answer) => (answer.part === 'data' ? [answer.chunk] : []));
  }

  get bytes(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  get end(): FeedAnswer | undefined {
    return this.answers.find(({ part }) => part === 'end');
  }
}

/** Yields without end, and counts. */
class Endless implements Watch<unknown> {
  yielded = 0;
  stops = 0;

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<unknown>> {
    while (this.stops === 0) yield { type: 'MODIFIED', object: thing(++this.yielded) };
  }

  stop(): void {
    this.stops++;
  }
}

describe('the feed of a ListerWatcher', () => {
  it('passes the parameters of the request on, in types that the functions expect', async () => {
    const asked: ListOptions[] = [];
    const scene = new FeedScene({
      list: (options) =>
        Promise.resolve((asked.push(options), { metadata: { resourceVersion: '1' }, items: [] })),
      watch: (options) => Promise.reject((asked.push(options), new Error('enough'))),
    });
    await scene.answered(
      '/api/v1/pods?limit=500&continue=a%2Bb&labelSelector=a%3Db&resourceVersionMatch=Exact',
    );
    scene.open(
      '/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=300&resourceVersion=0012',
      2,
    );
    await until(() => asked.length === 2);
    assert.deepEqual(asked, [
      { limit: 500, continue: 'a+b', labelSelector: 'a=b', resourceVersionMatch: 'Exact' },
      { allowWatchBookmarks: true, sendInitialEvents: true, timeoutSeconds: 300, resourceVersion: '0012' },
    ]);
  });

  it('writes a list in the format of the apiserver', async () => {
    const list = {
      kind: 'ThingList',
      apiVersion: 'example.com/v1',
      metadata: { resourceVersion: '9', continue: 'more', remainingItemCount: 3 },
      items: [thing(1), thing(2)],
    };
    const scene = new FeedScene({ list: () => Promise.resolve(list) });
    await scene.answered('/apis/example.com/v1/things?limit=2');
    assert.deepEqual(JSON.parse(scene.text), list);
    assert.deepEqual(scene.answers[0], { type: 'feed', request: 1, part: 'head', status: 200, headers: {} });
    assert.deepEqual(scene.end, { type: 'feed', request: 1, part: 'end' });
  });

  it('C132 stops reading a watch when a whole window is unacknowledged, and reads on after an acknowledgement', async () => {
    const watch = new Endless();
    const scene = new FeedScene({ watch: () => Promise.resolve(watch) });
    scene.open('/?watch=true');
    await until(() => scene.bytes >= WINDOW_BYTES);
    const { yielded, bytes } = { yielded: watch.yielded, bytes: scene.bytes };
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    assert.equal(watch.yielded, yielded);
    assert.ok(bytes < WINDOW_BYTES + 200, `${bytes}`);
    const [first] = scene.chunks;
    scene.taken(first?.length ?? 0);
    await until(() => watch.yielded > yielded);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    assert.ok(scene.bytes - (first?.length ?? 0) < WINDOW_BYTES + 200);
    scene.close();
    await until(() => watch.stops > 0);
  });

  it('sends a long list at the pace of the reader', async () => {
    const items = Array.from({ length: 3000 }, (_, index) => thing(index + 1, 'x'.repeat(500)));
    const scene = new FeedScene({
      list: () => Promise.resolve({ metadata: { resourceVersion: '9' }, items }),
    });
    scene.open('/');
    for (let taken = 0; scene.end === undefined;) {
      await new Promise(setImmediate);
      assert.ok(scene.bytes - taken < WINDOW_BYTES + 1000, `${scene.bytes - taken}`);
      const bytes = scene.bytes - taken;
      taken += bytes;
      scene.taken(bytes);
    }
    assert.equal((JSON.parse(scene.text) as KubeList<unknown>).items.length, 3000);
  });

  it('sends events that arrive together in one message, and a single one without delay', async () => {
    let next: ((event: WatchEvent<unknown>) => void) | undefined;
    const watch: Watch<unknown> = {
      async *[Symbol.asyncIterator]() {
        for (let version = 1; version <= 5; version++) yield { type: 'ADDED', object: thing(version) };
        yield await new Promise<WatchEvent<unknown>>((resolve) => (next = resolve));
      },
      stop: () => undefined,
    };
    const scene = new FeedScene({ watch: () => Promise.resolve(watch) });
    scene.open('/?watch=true');
    await until(() => scene.chunks.length > 0);
    assert.equal(scene.text.trimEnd().split('\n').length, 5);
    await until(() => next !== undefined);
    next?.({ type: 'BOOKMARK', object: thing(6) });
    await until(() => scene.end !== undefined);
    const events = scene.chunks.map((chunk) => Buffer.from(chunk).toString().split('\n').length - 1);
    assert.deepEqual(events, [5, 1]);
  });

  it('C133 stops a silent watch as soon as its request is closed', async () => {
    let stops = 0;
    const isAsked = { value: false };
    const quiet: Watch<unknown> = {
      async *[Symbol.asyncIterator]() {
        isAsked.value = true;
        await new Promise(() => undefined);
      },
      stop: () => void stops++,
    };
    const scene = new FeedScene({ watch: () => Promise.resolve(quiet) });
    scene.open('/?watch=true');
    await until(() => isAsked.value);
    scene.close();
    assert.equal(stops, 1);
  });

  it('reports errors of stop(), and sends nothing to a request that was closed', async () => {
    const watch = new Endless();
    watch.stop = () => {
      watch.stops++;
      throw new Error('will not');
    };
    const scene = new FeedScene({ watch: () => Promise.resolve(watch) });
    scene.open('/?watch=true');
    await until(() => scene.bytes > 0);
    scene.feed.close();
    await until(() => scene.errors.length > 0);
    assert.match(scene.errors[0]?.message ?? '', /will not/);
    const sent = scene.answers.length;
    await new Promise(setImmediate);
    assert.equal(scene.answers.length, sent, 'nothing is sent to a request that was closed');
  });

  it('answers a server’s refusal with its status, and other errors with no answer', async () => {
    const scene = new FeedScene({
      list: () =>
        Promise.reject(
          Object.assign(new Error('slow down'), {
            httpStatus: 429,
            reason: 'TooManyRequests',
            retryAfterSeconds: 7,
            causes: [{ reason: 'Load' }],
          }),
        ),
      watch: () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
    });
    await scene.answered('/');
    const [head] = scene.answers;
    assert.ok(head?.part === 'head');
    assert.deepEqual([head.status, head.headers], [429, { 'retry-after': '7' }]);
    assert.deepEqual(JSON.parse(scene.text), {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: 'slow down',
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'Load' }], retryAfterSeconds: 7 },
      code: 429,
    });
    scene.answers.length = 0;
    await scene.answered('/?watch=true', 2);
    const [end] = scene.answers;
    assert.ok(end?.part === 'end');
    assert.equal(end.error?.code, 'ERR_KUBELOOM_LISTER_WATCHER');
    assert.match(end.error.message, /watch\(\) of the ListerWatcher failed: connect/);
  });

  it('asks the functions nothing and answers nothing once it is closed', async () => {
    const asked: string[] = [];
    const scene = new FeedScene({
      list: () => {
        asked.push('list');
        return Promise.resolve({ metadata: { resourceVersion: '1' }, items: [] });
      },
    });
    scene.feed.close();
    scene.open('/things?limit=1');
    await new Promise(setImmediate);
    assert.deepEqual([asked, scene.answers], [[], []]);
  });

  it('refuses what is not a list', async () => {
    const scene = new FeedScene({ list: () => Promise.resolve(undefined as never) });
    await scene.answered('/');
    assert.ok(scene.end?.part === 'end' && scene.end.error?.message.includes('`items` is not an array'));
    assert.equal(scene.answers.length, 1);
  });
});

describe('the transport of a feed', () => {
  it('acknowledges the bytes that the sink has taken, and none that a pause holds back', async () => {
    const posted: FromReflectorThread[] = [];
    let receive: (message: ToReflectorThread) => void = () => undefined;
    const others: ToReflector[] = [];
    const transports = new FeedTransports({
      post: (message) => void posted.push(message),
      onMessage: (listener) => (receive = listener),
    });
    transports.port.onMessage((message) => void others.push(message));
    const sink = new RecordingSink();
    const exchange = transports.transportFor(7).request({ path: '/p?watch=true' }, sink);
    const answer = { type: 'feed', request: 1 } as const;
    exchange.pause();
    receive({ ...answer, part: 'head', status: 200, headers: { a: 'b' } });
    receive({ ...answer, part: 'data', chunk: Buffer.from('one') });
    receive({ ...answer, part: 'data', chunk: Buffer.from('three') });
    receive({ ...answer, part: 'end' });
    receive({ type: 'stop', informer: 7 });
    assert.deepEqual(others, [{ type: 'stop', informer: 7 }]);
    assert.deepEqual([sink.calls, sink.status, sink.headers], [['head'], 200, { a: 'b' }]);
    assert.deepEqual(posted, [
      { type: 'feed', informer: 7, request: 1, part: 'open', path: '/p?watch=true' },
    ]);
    sink.onData = () => {
      sink.onData = undefined;
      exchange.pause();
    };
    exchange.resume();
    assert.deepEqual(sink.chunks, [], 'not from inside resume()');
    await Promise.resolve();
    const taken = { type: 'feed', informer: 7, request: 1, part: 'taken' } as const;
    assert.deepEqual(posted.splice(1), [{ ...taken, bytes: 3 }]);
    exchange.resume();
    await Promise.resolve();
    assert.deepEqual(posted.splice(1), [{ ...taken, bytes: 5 }]);
    assert.deepEqual(sink.chunks.map(String), ['one', 'three']);
    assert.deepEqual(sink.calls, ['head', 'data', 'end']);
    exchange.close();
    assert.equal(posted.length, 1, 'an ended request is not closed again');
  });

  it('informs the feed that a request was closed, and the sink of a disposal', async () => {
    const posted: FromReflectorThread[] = [];
    let receive: (message: ToReflectorThread) => void = () => undefined;
    const transports = new FeedTransports({
      post: (message) => void posted.push(message),
      onMessage: (listener) => (receive = listener),
    });
    transports.port.onMessage(() => undefined);
    const transport = transports.transportFor(7);
    const closed = new RecordingSink();
    const disposed = new RecordingSink();
    transport.request({ path: '/1' }, closed).close();
    transport.request({ path: '/2' }, disposed);
    receive({ type: 'feed', request: 1, part: 'end' });
    await transport.dispose();
    assert.deepEqual(closed.calls, []);
    await disposed.failsWith('ERR_KUBELOOM_STOPPED');
    const requests = posted.map((message) => ('part' in message ? `${message.request} ${message.part}` : ''));
    assert.deepEqual(requests, ['1 open', '1 close', '2 open', '2 close']);
  });
});

/** Spans of lists, notifications and reconciliations, with OpenTelemetry's SDK as the observer. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { ROOT_CONTEXT, SpanStatusCode, context, trace } from '@opentelemetry/api';
import type { Context, ContextManager } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { LINKS_MAX } from '../../../src/metrics/key-links.ts';
import { startTracing } from '../../../src/metrics/opentelemetry.ts';
import * as channels from '../../../src/metrics/trace-channels.ts';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { PriorityQueue, RateLimitingQueue, runWorkers } from '../../../src/workqueue/index.ts';
import type { ReconcileResult } from '../../../src/workqueue/index.ts';
import type { ResourceEventHandler } from '../../../src/index.ts';
import { PODS } from '../../kit/objects.ts';
import { pod } from '../informer/scene.ts';
import type { Pod } from '../informer/scene.ts';

/** Keeps contexts across promises, as the context manager of OpenTelemetry's Node SDK does. */
class AsyncContexts implements ContextManager {
  readonly #storage: AsyncLocalStorage<Context> = new AsyncLocalStorage();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    called: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => called.apply(thisArg, args));
  }

  bind<T>(_active: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('test');
let end = (): void => undefined;

before(() => context.setGlobalContextManager(new AsyncContexts()));
after(() => context.disable());
beforeEach(() => {
  exporter.reset();
  end = startTracing(tracer);
});
afterEach(() => end());

const spans = (name: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name);

function span(name: string): ReadableSpan {
  const [first, ...others] = spans(name);
  assert.ok(first && others.length === 0, `${others.length + 1} spans ${name}`);
  return first;
}

const idOf = (of: ReadableSpan): string => of.spanContext().spanId;
const linksOf = (of: ReadableSpan | undefined): (string | undefined)[] | undefined =>
  of?.links.map((link) => link.context.spanId);

const newQueue = (clock: FakeClock = new FakeClock()): RateLimitingQueue<string> =>
  new RateLimitingQueue<string>({ name: 'keys', clock });

/** Makes a span around the work. */
function inSpan(name: string, work: () => unknown): void {
  tracer.startActiveSpan(name, (own) => {
    work();
    own.end();
  });
}

/** Works on all waiting items. */
async function worked(
  queue: RateLimitingQueue<string>,
  reconcile: (item: string) => Promise<ReconcileResult> | ReconcileResult = () => undefined,
): Promise<void> {
  const ended = new AbortController();
  const running = runWorkers(queue, 1, reconcile, { signal: ended.signal, onError: () => undefined });
  do await new Promise((resolve) => setImmediate(resolve));
  while (queue.length > 0);
  ended.abort();
  await running;
}

/** Calls a handler for the addition of `a`, for two updates, and for its deletion. */
async function notified(handler: ResourceEventHandler<Pod>): Promise<void> {
  const source = new FakeControllerSource<Pod>();
  source.add(pod('a'));
  await using threads = new InformerThreads({ indexerThreads: 0 });
  await using informer = new SharedIndexInformer<Pod>(source, PODS, { threads });
  informer.addEventHandler(handler, { name: 'enqueue' });
  void informer.run();
  await settled(informer);
  source.modify(pod('a', { step: '1' }));
  source.modify(pod('a', { step: '2' }));
  source.delete(pod('a'));
  await informer.waitForResourceVersion('4');
  await informer.shutdown({ drain: true });
}

describe('a reconciliation', () => {
  test('is a span that links to the notification whose handler added the key', async () => {
    const queue = newQueue();
    await notified({ onUpdate: (_, { key }) => queue.add(key) });
    await worked(queue);
    const [first, second] = spans('notification pods');
    assert.ok(first && second);
    assert.deepEqual(first.attributes, {
      'kubeloom.informer': 'pods (all namespaces)',
      'kubeloom.group': '',
      'kubeloom.version': 'v1',
      'kubeloom.resource': 'pods',
      'kubeloom.handler': 'enqueue',
      'kubeloom.notification.type': 'modified',
      'k8s.namespace.name': 'ns',
      'k8s.object.name': 'a',
      'k8s.object.resource_version': '2',
    });
    const reconcile = span('reconcile keys');
    assert.deepEqual(linksOf(reconcile), [idOf(first), idOf(second)]);
    assert.deepEqual(reconcile.attributes, {
      'kubeloom.controller': 'keys',
      'kubeloom.key': 'ns/a',
      'kubeloom.reconcile.retries': 0,
      'kubeloom.reconcile.result': 'success',
    });
    assert.equal(reconcile.parentSpanContext, undefined);
    assert.equal(reconcile.status.code, SpanStatusCode.UNSET);
  });

  test('is active while the reconcile function runs, and links what that adds', async () => {
    const queue = newQueue();
    queue.add('a');
    await worked(queue, async (item) => {
      await Promise.resolve();
      if (item === 'b') return;
      inSpan('work', () => queue.add('b'));
    });
    const [first, second] = spans('reconcile keys');
    const work = span('work');
    assert.ok(first);
    assert.equal(work.parentSpanContext?.spanId, idOf(first));
    assert.deepEqual(linksOf(second), [idOf(work)]);
    assert.notEqual(second?.spanContext().traceId, first.spanContext().traceId);
  });

  test("records the function's error, and the retry links to the failed attempt", async () => {
    const clock = new FakeClock();
    const queue = newQueue(clock);
    queue.add('a');
    const error = Object.assign(new Error('no such pod'), { code: 404 });
    await worked(queue, () => Promise.reject(error));
    clock.advance(60_000);
    await worked(queue, () => ({ requeueAfterMs: 1000 }));
    clock.advance(1000);
    await worked(queue);
    const [failed, retried, last] = spans('reconcile keys');
    assert.ok(failed && retried && last);
    assert.deepEqual(failed.status, { code: SpanStatusCode.ERROR, message: 'no such pod' });
    assert.equal(failed.attributes['error.type'], '404');
    assert.equal(failed.attributes['kubeloom.reconcile.result'], 'error');
    assert.equal(failed.events[0]?.attributes?.['exception.message'], 'no such pod');
    assert.deepEqual(linksOf(retried), [idOf(failed)]);
    assert.equal(retried.attributes['kubeloom.reconcile.retries'], 1);
    assert.equal(retried.attributes['kubeloom.reconcile.result'], 'requeue_after');
    assert.deepEqual(linksOf(last), [idOf(retried)]);
  });

  test('has the error of the function, and not the error of an error handler that throws', async (context) => {
    context.mock.method(process, 'emitWarning', () => undefined);
    const queue = newQueue();
    queue.add('a');
    const onError = (): never => {
      throw new TypeError('wrong');
    };
    const failing = (): Promise<never> => Promise.reject(new RangeError('no'));
    const running = runWorkers(queue, 1, failing, { onError, retriesMax: 0 });
    queue.shutDown();
    await running;
    assert.equal(span('reconcile keys').attributes['error.type'], 'RangeError');
  });
});

describe('a link', () => {
  test('is made for an add with a delay, and not again when the delay has passed', async () => {
    const clock = new FakeClock();
    const queue = newQueue(clock);
    inSpan('delayed', () => queue.addAfter('a', 1000));
    await tracer.startActiveSpan('other', async (other) => {
      clock.advance(1000);
      await worked(queue);
      other.end();
    });
    assert.deepEqual(linksOf(span('reconcile keys')), [idOf(span('delayed'))]);
  });

  test('is made for an add with a priority', async () => {
    const queue = new PriorityQueue<string>({ name: 'keys' });
    inSpan('urgent', () => queue.addWithOptions({ priority: 1 }, 'a'));
    await worked(queue);
    assert.deepEqual(linksOf(span('reconcile keys')), [idOf(span('urgent'))]);
  });

  test('names the span that the handler has made, and not one that was active before the call', async () => {
    const queue = newQueue();
    await tracer.startActiveSpan('startup', async (startup) => {
      await notified({
        onAdd: ({ key }) => queue.add(key),
        onDelete: () => inSpan('enqueue', () => queue.add('ns/a')),
      });
      startup.end();
    });
    await worked(queue);
    const [added, deleted] = spans('notification pods');
    assert.ok(added && deleted);
    assert.equal(added.parentSpanContext, undefined);
    assert.equal(deleted.attributes['kubeloom.notification.type'], 'deleted');
    assert.deepEqual(linksOf(span('reconcile keys')), [idOf(added), idOf(deleted), idOf(span('enqueue'))]);
  });

  test('is made to a caller in another process, and not to a span that has ended', async () => {
    const queue = newQueue();
    const remote = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true };
    context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () => queue.add('a'));
    tracer.startActiveSpan('ended', (ended) => {
      ended.end();
      queue.add('a');
    });
    await worked(queue);
    assert.deepEqual(linksOf(span('reconcile keys')), [remote.spanId]);
  });

  test('is not made beyond the limit of a key', async () => {
    const queue = newQueue();
    for (let number = 0; number <= LINKS_MAX; number++) inSpan('add', () => queue.add('a'));
    await worked(queue);
    assert.equal(span('reconcile keys').links.length, LINKS_MAX);
  });
});

test('a notification whose handler adds nothing has no span', async () => {
  await notified({ onAdd: () => undefined, onUpdate: () => undefined });
  assert.deepEqual(spans('notification pods'), []);
});

test('a notification without a namespace, and a queue without a name, have no such attributes', async () => {
  const queue = new RateLimitingQueue<object>();
  const kind = { group: '', version: 'v1', resource: 'nodes' };
  const object = { namespace: '', objectName: 'a', resourceVersion: '1' };
  const message: channels.NotificationMessage = {
    ...kind,
    ...object,
    name: 'nodes',
    handler: 'enqueue',
    type: 'added',
    run: () => queue.add({}),
  };
  channels.notificationChannel.publish(message);
  message.run();
  queue.shutDown();
  await runWorkers(queue, 1, () => undefined);
  assert.ok(!('k8s.namespace.name' in span('notification nodes').attributes));
  assert.deepEqual(span('reconcile').attributes, {
    'kubeloom.reconcile.retries': 0,
    'kubeloom.reconcile.result': 'success',
  });
});

test('a list is a span of its own time, a later list is a relist, and a failed one has its code', () => {
  const figures = { mode: 'pages', items: 3, bytes: 999 };
  const list = { name: 'pods', group: '', version: 'v1', resource: 'pods', ...figures };
  const time = { startedAtMs: 1_790_000_000_000.5, durationMs: 1500.25 };
  channels.listChannel.publish({ ...list, ...time, cause: 'initial', result: 'ok' });
  channels.listChannel.publish({ ...list, ...time, cause: 'expired', result: 'ERR_KUBELOOM_LIST' });
  const initial = span('list pods');
  assert.deepEqual(initial.startTime, [1_790_000_000, 500_000]);
  assert.deepEqual(initial.endTime, [1_790_000_001, 500_750_000]);
  assert.equal(initial.status.code, SpanStatusCode.UNSET);
  assert.deepEqual(initial.attributes, {
    'kubeloom.informer': 'pods',
    'kubeloom.group': '',
    'kubeloom.version': 'v1',
    'kubeloom.resource': 'pods',
    'kubeloom.list.mode': 'pages',
    'kubeloom.list.cause': 'initial',
    'kubeloom.list.result': 'ok',
    'kubeloom.list.items': 3,
    'kubeloom.list.bytes': 999,
  });
  const relist = span('relist pods');
  assert.deepEqual(relist.status, { code: SpanStatusCode.ERROR, message: 'ERR_KUBELOOM_LIST' });
  assert.equal(relist.attributes['error.type'], 'ERR_KUBELOOM_LIST');
});

test('the list of an informer is a span, and its notifications have the same name', async () => {
  await notified({ onAdd: ({ key }) => newQueue().add(key) });
  const list = span('list pods');
  assert.equal(list.attributes['kubeloom.list.items'], 1);
  assert.equal(list.attributes['kubeloom.list.result'], 'ok');
  const { attributes } = span('notification pods');
  assert.equal(list.attributes['kubeloom.informer'], attributes['kubeloom.informer']);
});

test('two tracers make separate spans', async () => {
  const endSecond = startTracing(provider.getTracer('second'));
  const queue = newQueue();
  await notified({ onAdd: ({ key }) => queue.add(key) });
  await worked(queue);
  endSecond();
  assert.equal(spans('notification pods').length, 2);
  const reconciled = spans('reconcile keys');
  const scopes = reconciled.map((own) => `${own.instrumentationScope.name} ${own.links.length}`);
  assert.deepEqual(new Set(scopes), new Set(['second 1', 'test 1']));
});

test('tracing that has ended leaves no subscriber and makes no span, and finishes the spans in progress', async () => {
  const queue = newQueue();
  queue.add('a');
  queue.add('b');
  await worked(queue, () => end());
  assert.equal(span('reconcile keys').attributes['kubeloom.key'], 'a');
  for (const channel of Object.values(channels)) assert.ok(!channel.hasSubscribers);
});

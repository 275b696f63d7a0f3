/** Metrics and channel messages of lists, watches and requests: each moves with its cause, on servers that misbehave. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { ChannelMessages, ChannelName } from '../../../src/metrics/channels.ts';
import { MetricsReading } from '../../../src/tools/cli/top/reading.ts';
import { InformerThreads } from '../../../src/index.ts';
import { collectMetrics } from '../../../src/metrics/index.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import { pod } from '../../kit/objects.ts';
import { Scene } from '../../kit/scene.ts';
import { bookmark, event, list, status, wirePod } from '../../kit/scripted-server.ts';
import type { Script } from '../../kit/scripted-server.ts';
import { SMALL_BACKLOGS, Scene as FakeScene, paddedPods } from './scene.ts';

const now = (): MetricsReading => new MetricsReading(collectMetrics());
const LABELS = { name: 'pods (all namespaces)', group: '', version: 'v1', resource: 'pods' };
const PAGES = { list: { watchList: 'off' } } as const;

/** Lists so far: `pages initial ok`, with their number if it is not 1. */
function lists(): string[] {
  const reading = now();
  return reading.labels('kubeloom_lists_total').map((labels) => {
    const count = reading.sum('kubeloom_lists_total', labels) ?? 0;
    return `${labels['mode']} ${labels['cause']} ${labels['result']}${count === 1 ? '' : ` ${count}`}`;
  });
}

function ended(reason: string): number | undefined {
  return now().sum('kubeloom_watches_ended_total', { reason });
}

/** Collects the messages of a channel until the test ends. */
function messagesOf<Name extends ChannelName>(context: TestContext, name: Name): ChannelMessages[Name][] {
  const messages: ChannelMessages[Name][] = [];
  const listener = (message: unknown): void => void messages.push(message as ChannelMessages[Name]);
  subscribe(name, listener);
  context.after(() => unsubscribe(name, listener));
  return messages;
}

const scene = (): Promise<Scene> => Scene.start({ threads: { indexerThreads: 0 } });

/** Answers the first list with one pod, and further requests with the given script. */
function listed(more: Script): Script {
  return (request, number) => {
    if (number === 0) request.answer(200, list('5', [wirePod('a', '5')]));
    else more(request, number);
  };
}

describe('metrics of lists and watches', () => {
  test('a list is counted with its mode, items, bytes and duration', async () => {
    await using streamed = await scene();
    await streamed.put(pod('a'), pod('b'));
    await streamed.synced(streamed.informer());
    await streamed.until(() => lists().length > 0);
    assert.deepEqual(lists(), ['stream initial ok']);
    assert.equal(now().sum('kubeloom_list_items'), 2);
    assert.ok((now().sum('kubeloom_list_bytes') ?? 0) > 200);
    assert.ok((now().sum('kubeloom_received_bytes_total', { verb: 'watch' }) ?? 0) > 200);
    assert.equal(now().histogram('kubeloom_list_duration_seconds', { mode: 'stream' })?.counts.length, 13);
    assert.equal(now().sum('kubeloom_watches_started_total'), 1);
  });

  test('a relist after 410 has its cause, and the watch that expired its reason', async () => {
    await using relisting = await scene();
    await relisting.put(pod('a'));
    const informer = relisting.informer(PAGES);
    await relisting.synced(informer);
    await relisting.until(() => now().sum('kubeloom_watches_started_total') === 1);
    await relisting.server.expireWatches();
    await relisting.until(() => lists().length === 2);
    assert.deepEqual(lists(), ['pages initial ok', 'pages expired ok']);
    assert.equal(ended('expired'), 1);
    assert.equal(now().sum('kubeloom_watch_events_total', { type: 'error' }), 1);
    assert.equal(now().sum('kubeloom_errors_total', { code: 'ERR_KUBELOOM_GONE', during: 'watch' }), 1);
    assert.ok((now().sum('kubeloom_received_bytes_total', { verb: 'list' }) ?? 0) > 0);
  });

  test('watches end for the server and for a broken connection, until the informer ends', async () => {
    await using ending = await scene();
    await ending.put(pod('a'));
    const { informer, handler } = await ending.watching(PAGES);
    const [added = ''] = await ending.put(pod('b'));
    await handler.reached(Number(added));
    await ending.server.dropWatches({ how: 'close' });
    await ending.until(() => ended('server') === 1 && now().sum('kubeloom_watches_started_total') === 2);
    await ending.server.sendBookmarks();
    const bookmarks = { type: 'bookmark' };
    await ending.until(() => now().sum('kubeloom_watch_events_total', bookmarks) === 1);
    await ending.server.dropWatches({ how: 'reset' });
    await ending.until(() => ended('torn') === 1);
    assert.equal(now().sum('kubeloom_watch_events_total', { type: 'added' }), 1);
    const durations = now().histogram('kubeloom_watch_duration_seconds');
    assert.equal(
      durations?.counts.reduce((sum, count) => sum + count),
      2,
    );
    await informer.shutdown();
    assert.deepEqual(now().labels('kubeloom_watches_ended_total'), [], 'the series end with the informer');
  });

  test('a malformed event ends a watch, and objects that make no sense are ignored by reason', async () => {
    await using wrong = await scene();
    const script = listed((request, number) => {
      if (number > 1) return;
      request.send(
        { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '6' } } },
        { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x' } } },
        { type: 'ADDED', object: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'x' } } },
        event('MODIFIED', 'a', '5'),
        event('NEWS', 'a', '6'),
        event('ADDED', 'b', '9'),
        bookmark('8'),
        'no event\n',
      );
    });
    const { informer } = await wrong.scripted(script, PAGES);
    void wrong.run(informer);
    await wrong.until(() => ended('malformed') === 1);
    await wrong.until(() => informer.getStore().getByKey('default/b') !== undefined);
    const ignored = (reason: string): number | undefined =>
      now().sum('kubeloom_ignored_events_total', { reason });
    assert.equal(ignored('nameless'), 1);
    assert.equal(ignored('unversioned'), 1);
    assert.equal(ignored('unexpected'), 1);
    assert.equal(ignored('unknown_type'), 1);
    assert.equal(ignored('out_of_order'), 1);
    assert.equal(ignored('old_version'), 1);
    assert.equal(now().sum('kubeloom_errors_total', { during: 'decode' }), 5);
  });

  test('refused credentials and an unreachable server are results of lists and codes of requests', async () => {
    await using refused = await scene();
    const { server, informer } = await refused.scripted((request, number) => {
      if (number < 2) request.answer(401, status(401, 'Unauthorized'));
      else if (number === 2) request.answer(200, list('5', []));
    }, PAGES);
    const { host } = new URL(server.url);
    void refused.run(informer);
    await refused.until(() => lists().length === 2);
    assert.deepEqual(lists(), ['pages initial ERR_KUBELOOM_UNAUTHORIZED', 'pages unauthorized ok']);
    const requests = (code: string): number | undefined =>
      now().sum('rest_client_requests_total', { host, method: 'LIST', code });
    assert.equal(requests('401'), 2);
    assert.equal(requests('200'), 1);
    await server[Symbol.asyncDispose]();
    const unanswered = { host, code: '<error>' };
    await refused.until(() => (now().sum('rest_client_requests_total', unanswered) ?? 0) > 0);
    await informer.shutdown();
    assert.equal(requests('401'), 2, 'requests are those of the process');
    const durations = now().histogram('rest_client_request_duration_seconds', { host, verb: 'LIST' });
    assert.equal(
      durations?.counts.reduce((sum, count) => sum + count),
      3,
    );
  });

  test('counters continue with a new reflector after one whose watch ended with its thread', async (context) => {
    let backend: InProcessBackend | undefined;
    const threads = new InformerThreads(
      { indexerThreads: 0 },
      { backend: (...given) => (backend = new InProcessBackend(...given)) },
    );
    const replaced = messagesOf(context, 'kubeloom:thread');
    await using dying = await Scene.start({ threads });
    dying.ends(threads);
    await dying.put(pod('a'));
    const { informer, handler } = await dying.watching();
    const [first = ''] = await dying.put(pod('a', { step: '1' }));
    await handler.reached(Number(first));
    const modified = (): number | undefined => now().sum('kubeloom_watch_events_total', { type: 'modified' });
    assert.equal(modified(), 1);
    backend?.kill('reflector');
    await dying.until(() => ended('thread') === 1 && lists().length === 2);
    const [second = ''] = await dying.put(pod('a', { step: '2' }));
    await handler.reached(Number(second));
    assert.equal(modified(), 2);
    assert.deepEqual(lists(), ['stream initial ok', 'stream restarted ok']);
    assert.equal(now().sum('kubeloom_watches_started_total'), 2);
    assert.equal(now().sum('kubeloom_errors_total', { during: 'thread' }), 1);
    assert.deepEqual(replaced, [
      { threads: 'threads', role: 'reflector', code: 'ERR_KUBELOOM_THREAD_RESTARTED' },
    ]);
    assert.equal(informer.hasSynced(), true);
  });
});

describe('channels', () => {
  test('have the lists, watches and requests of an informer', async (context) => {
    const [requested, listsEnded, watchesEnded] = [
      messagesOf(context, 'kubeloom:request'),
      messagesOf(context, 'kubeloom:list'),
      messagesOf(context, 'kubeloom:watch'),
    ];
    const sinceMs = Date.now();
    await using published = await scene();
    const script = listed((request, number) => {
      if (number === 1) request.send(event('ADDED', 'b', '6')).end();
    });
    const { server, informer } = await published.scripted(script, PAGES);
    void published.run(informer);
    await published.until(() => watchesEnded.length > 0);
    const { host } = new URL(server.url);
    const [request] = requested;
    assert.deepEqual(request, {
      ...LABELS,
      verb: 'LIST',
      host,
      code: '200',
      durationMs: request?.durationMs,
    });
    const [listMessage] = listsEnded;
    assert.deepEqual(listMessage, {
      ...LABELS,
      mode: 'pages',
      cause: 'initial',
      result: 'ok',
      items: 1,
      bytes: JSON.stringify(list('5', [wirePod('a', '5')])).length,
      durationMs: listMessage?.durationMs,
      startedAtMs: listMessage?.startedAtMs,
    });
    assert.ok((listMessage?.startedAtMs ?? 0) >= sinceMs - 1);
    const [watch] = watchesEnded;
    assert.deepEqual([watch?.reason, watch?.events], ['server', 1]);
  });

  test('have a handler that is slow, and a report that its backlog is coalesced', async (context) => {
    const [slow, backlogs] = [
      messagesOf(context, 'kubeloom:slow-handler'),
      messagesOf(context, 'kubeloom:backlog'),
    ];
    await using scene = new FakeScene(SMALL_BACKLOGS);
    const informer = scene.informer({ slowHandler: { ageMs: 500 } });
    const held = scene.gate();
    informer.addEventHandler({ onAdd: () => held.opened }, { name: 'stuck' });
    const padded = paddedPods(100);
    for (const one of padded) scene.source.add(one);
    void informer.run();
    await informer.waitForSync();
    for (let round = 0; round < 3; round++) for (const one of padded) scene.source.modify(one);
    await scene.passed(() => backlogs.length > 0 && slow.length > 0);
    held.open();
    assert.deepEqual(
      backlogs.map(({ code, handler }) => [code, handler]),
      [['ERR_KUBELOOM_BACKLOG_COALESCED', 'stuck']],
    );
    const [first] = slow;
    assert.ok(first && first.ageMs > 0);
    assert.deepEqual(first, {
      ...LABELS,
      handler: 'stuck',
      code: 'ERR_KUBELOOM_SLOW_HANDLER',
      callMs: undefined,
      notifications: first.notifications,
      bytes: first.bytes,
      ageMs: first.ageMs,
    });
    assert.equal(now().sum('kubeloom_errors_total', { during: 'handler' }), slow.length + backlogs.length);
  });
});

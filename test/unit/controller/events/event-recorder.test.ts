/** The recorder of events on the embedded apiserver, which refuses and loses some. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { FakeClock, startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { EventRecorder, ObjectClient } from '../../../../src/controller/index.ts';
import type { EventRecorderOptions } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import { processWarnings } from '../../../kit/warnings.ts';
import { RecordingServer } from '../requests/recording-server.ts';
import { RecordingLogger } from '../../../kit/recording-logger.ts';
import { failRequests } from '../../tools/apiserver/fail-requests.ts';
import { turns } from '../../informer/scene.ts';

const { pods, nodes, events } = resources.core.v1;
const POD = { metadata: { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7' } };
const EVENT = { type: 'Normal', reason: 'Started', message: 'it runs' } as const;

const NODE = { metadata: { name: 'n1', uid: 'u' } };

/** A recorder, and the server and the client of its events. */
class Scene implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly codes: string[] = [];

  constructor(server: EmbeddedApiServer, options: Partial<EventRecorderOptions> = {}) {
    this.server = server;
    this.client = new ObjectClient({ server: server.url, token: server.token });
    const onError = ({ code }: { readonly code: string }): unknown => this.codes.push(code);
    this.recorder = new EventRecorder(this.client, { component: 'test', onError, ...options });
  }

  static async start(options: Partial<EventRecorderOptions> = {}): Promise<Scene> {
    return new Scene(await startEmbeddedApiServer({ isolation: 'none', tls: false }), options);
  }

  /** The key of the only event. */
  async key(): Promise<string> {
    const keys = [...(await this.server.state('events')).keys()];
    assert.equal(keys.length, 1, keys.join(', '));
    return String(keys[0]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}

describe('an event recorder', () => {
  it('writes an event about an object, and counts the next ones', async () => {
    await using scene = await Scene.start({ host: 'here' });
    const { client, recorder, codes } = scene;
    for (let times = 0; times < 3; times++) recorder.event(pods, POD, EVENT);
    await recorder.close();
    const event = await client.get(events, await scene.key());
    const { count, type, reason, message } = event;
    assert.deepEqual([count, { type, reason, message }], [3, EVENT]);
    const { name, namespace, uid, resourceVersion } = POD.metadata;
    const involved = { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, resourceVersion };
    assert.deepEqual(event.involvedObject, involved);
    assert.deepEqual(event.source, { component: 'test', host: 'here' });
    recorder.event(pods, POD, EVENT);
    assert.deepEqual(codes, []);
  });

  it('writes events about objects without a namespace into the namespace default', async () => {
    await using scene = await Scene.start();
    const { recorder } = scene;
    recorder.event(nodes, NODE, EVENT);
    await recorder.close();
    assert.match(await scene.key(), /^default\/n1\./);
  });

  it('creates an event again that the server has deleted', async () => {
    await using scene = await Scene.start();
    const { client, recorder } = scene;
    recorder.event(pods, POD, EVENT);
    while ((await scene.server.state('events')).size === 0) await turns();
    const key = await scene.key();
    await client.delete(events, key);
    recorder.event(pods, POD, EVENT);
    await recorder.close();
    assert.equal((await client.get(events, await scene.key())).count, 2);
  });

  const listeners: Readonly<Record<string, () => never>> = {
    threw: () => {
      throw new Error('from onError');
    },
    rejected: () => Promise.reject(new Error('from onError')) as never,
  };
  for (const [how, onError] of Object.entries(listeners)) {
    it(`writes later events although onError ${how}, which is a warning`, async () => {
      await using scene = await Scene.start({ onError });
      const { server, recorder } = scene;
      const warning = once(process, 'warning');
      await failRequests(server, 403, 1);
      recorder.event(pods, POD, EVENT);
      recorder.event(nodes, NODE, EVENT);
      await recorder.close();
      assert.match(await scene.key(), /^default\/n1\./);
      const [{ message }] = (await warning) as [Error];
      assert.match(message, /onError threw.*from onError/);
    });
  }

  it('tries again after a connection that broke, and in the order of the events', async () => {
    const clock = new FakeClock();
    await using scene = await Scene.start({ clock, random: () => 0.5 });
    const { client, recorder, codes } = scene;
    await failRequests(scene.server, 'reset', 2);
    recorder.event(pods, POD, EVENT);
    recorder.event(pods, POD, EVENT);
    for (const delayMs of [5000, 10_000]) {
      while (clock.nextDelayMs !== delayMs) await turns(1);
      clock.advance(delayMs);
    }
    await recorder.close();
    assert.equal((await client.get(events, await scene.key())).count, 2);
    assert.deepEqual(codes, []);
  });

  it('gives up events that the server refuses, and events still pending when it is closed', async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    await using scene = await Scene.start({ clock, log });
    const { server, recorder, codes } = scene;
    await failRequests(server, 403, 1);
    recorder.event(pods, POD, EVENT);
    while (codes.length === 0) await turns(1);
    await failRequests(server, 'reset', 100);
    recorder.event(pods, POD, { ...EVENT, message: 'another' });
    await recorder.close();
    assert.deepEqual(codes, ['ERR_KUBELOOM_EVENT_DROPPED', 'ERR_KUBELOOM_EVENT_DROPPED']);
    for (const { code } of log.fields) assert.equal(code, codes[0]);
    assert.equal(log.fields.length, 2);
    assert.equal((await server.state('events')).size, 0);
  });

  it('C313 repeats after 429 and 503 when the server wants it, with the client of an owner whose fence is over, in both APIs', async () => {
    const clock = new FakeClock();
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false });
    const over = AbortSignal.abort();
    const fenced = new ObjectClient({ server: server.url, token: server.token }).fenced(over);
    const recorder = new EventRecorder(fenced, { component: 'test', apiVersion: 'events.k8s.io/v1', clock });
    await failRequests(server, 429, 1);
    recorder.event(pods, POD, EVENT);
    recorder.event(pods, POD, EVENT);
    while (clock.nextDelayMs === undefined) await turns(1);
    clock.advance(clock.nextDelayMs);
    const keysOf = async (): Promise<string[]> => [...(await server.state('events.events.k8s.io')).keys()];
    while ((await keysOf()).length === 0) await turns(1);
    await recorder.close();
    const { client } = new Scene(server);
    const event = await client.get(resources.events.v1.events, String((await keysOf())[0]));
    assert.deepEqual([event.action, event.note, event.series?.count], ['Started', 'it runs', 2]);
    assert.match(event.eventTime ?? '', /\.\d{6}Z$/);
  });

  it('C313 ends with its signal, or after 30 s, and reports the events that it gives up', async () => {
    const clock = new FakeClock();
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false });
    await failRequests(server, 'hang', 9, { method: 'POST' });
    for (const end of ['signal', 'time'] as const) {
      const { recorder, codes } = new Scene(server, { clock });
      recorder.event(pods, POD, EVENT);
      recorder.event(nodes, NODE, EVENT);
      await turns();
      const stop = new AbortController();
      const closed = recorder.close({ signal: stop.signal });
      if (end === 'signal') stop.abort();
      else clock.advance(30_000);
      await closed;
      assert.deepEqual(codes, ['ERR_KUBELOOM_EVENT_DROPPED', 'ERR_KUBELOOM_EVENT_DROPPED']);
    }
  });

  it('drops events behind a thousand that wait', async () => {
    await using scene = await Scene.start({ clock: new FakeClock() });
    const { recorder, codes } = scene;
    await failRequests(scene.server, 'reset', 10_000);
    for (let n = 0; n < 1001; n++)
      recorder.event(pods, { metadata: { name: `p${n}`, namespace: 'default' } }, EVENT);
    assert.deepEqual(codes, ['ERR_KUBELOOM_EVENT_DROPPED']);
  });

  it('C475 warns of a flood once a second, and of the rest with their number when it is closed', async (context) => {
    for (const log of [undefined, new RecordingLogger()]) {
      const warned = processWarnings(context);
      const clock = new FakeClock();
      const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
      const recorder = new EventRecorder(client, { component: 'test', clock, ...(log ? { log } : {}) });
      const flood = (from: number, to: number): void => {
        for (let n = from; n < to; n++)
          recorder.event(pods, { metadata: { name: `p${n}`, namespace: 'default' } }, EVENT);
      };
      flood(0, 4000);
      clock.advance(1000);
      flood(4000, 5000);
      const ended = recorder.close({ signal: AbortSignal.abort() });
      await ended;
      const lines = log ? log.lines : warned.map(({ message }) => message);
      const full = lines.filter((line) => line.includes('1000 events wait already'));
      assert.deepEqual(
        full.map((line) => /\(and (\d+) more like it\)$/.exec(line)?.[1]),
        [undefined, '2999', '999'],
      );
      assert.ok(lines.length < 7, lines.join('\n'));
    }
  });

  it('C475 cuts texts at the limits of events.k8s.io, between characters, and does not change a note', async () => {
    await using server = await RecordingServer.start(() => ({ body: {} }));
    const options = { component: 'test', apiVersion: 'events.k8s.io/v1', host: 'h'.repeat(200) } as const;
    const recorder = new EventRecorder(server.client(), options);
    const long = {
      type: 'Warning',
      reason: 'R'.repeat(200),
      action: `${'A'.repeat(127)}é`,
      message: '',
    } as const;
    for (let n = 0; n < 10; n++) recorder.event(pods, POD, { ...long, message: '字😀'.repeat(n * 100) });
    await recorder.close();
    const bodies = server.requests.map(({ body }) => body as Record<string, string>);
    const sizes = bodies.map(({ note = '' }) => Buffer.byteLength(note)).slice(0, 4);
    assert.deepEqual(sizes, [0, 700, 1022, 1022]);
    const { reason, action, reportingInstance, note = '' } = bodies[3] ?? {};
    assert.deepEqual(
      [reason, action, reportingInstance],
      ['R'.repeat(128), 'A'.repeat(127), 'h'.repeat(128)],
    );
    assert.ok(note.startsWith('字😀字😀') && Buffer.from(note).toString() === note);
    const again = new EventRecorder(server.client(), options);
    for (let n = 0; n < 2; n++) again.event(pods, POD, EVENT);
    await again.close();
    assert.deepEqual([server.last.method, Object.keys(server.last.body as object)], ['PATCH', ['series']]);
  });

  it('C475 writes an event with an empty message, and without limits in the API v1', async () => {
    await using scene = await Scene.start();
    const message = new AggregateError([new Error('x')]).message;
    scene.recorder.event(pods, POD, { ...EVENT, message });
    await scene.recorder.close();
    assert.equal((await scene.client.get(events, await scene.key())).message ?? '', message);
    assert.deepEqual(scene.codes, []);
  });

  it('refuses events that say nothing', () => {
    const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    assert.throws(() => new EventRecorder(client, {} as never), refused);
    const recorder = new EventRecorder(client, { component: 'test' });
    assert.throws(() => recorder.event(pods, { metadata: {} }, EVENT), refused);
    assert.throws(() => recorder.event(pods, POD, { ...EVENT, type: 'Error' } as never), refused);
    assert.throws(() => recorder.event(pods, POD, { ...EVENT, reason: '' }), refused);
  });
});

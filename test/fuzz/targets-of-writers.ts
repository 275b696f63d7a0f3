/**
 * Objects of any JSON writer against JSON.parse: any order of members, white space, escapes, events on one line or several,
 * any cuts; as received, transformed, in JSON and msgpack, in the main thread and in a thread with the cache.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { InformerThreads, SharedIndexInformer, label, transformModule } from '../../src/index.ts';
import type { Transform } from '../../src/index.ts';
import { SharedCache } from '../../src/thread/index.ts';
import { CONFIG_MAPS, kubeConfigFor } from '../security/bare-server.ts';
import { COMPACT, ODD, randomJson, writeJson } from '../unit/kube/json/random-json.ts';
import type { Json, WriteStyle } from '../unit/kube/json/random-json.ts';
import { Seeded } from '../unit/kube/json/seeded.ts';
import { until } from '../kit/until.ts';
import type { FuzzCase, FuzzTarget, Probe } from './probe.ts';
import { FIELDS, decorate, seenOf } from './writers-reader.ts';
import type { Kube, Seen } from './writers-reader.ts';

const STYLES: readonly WriteStyle[] = [COMPACT, COMPACT, ODD, { spaces: 0.5, escapes: 0.3 }];
const BETWEEN = ['\n', '\n', '\n', '', ' ', '\r\n\n'];
const UIDS = [
  'a0b1c2d3-0000-4000-8000-00000000000f',
  'A0B1C2D3-0000-4000-8000-00000000000F',
  '00000000-0000-0000-0000-000000000000',
  'u-é\ud83d\ude00',
  '',
];
const READER = new URL('./writers-reader.js', import.meta.url);
const TRANSFORMS: Readonly<Record<string, Transform<object> | undefined>> = {
  plain: undefined,
  // Without fields: states are compared by their heads.
  'plain bare': undefined,
  function: decorate,
  module: transformModule(READER.href, 'decorate'),
};

function randomObject(random: Seeded, name: string, version: string): Json {
  const texts = (): Json =>
    Object.fromEntries(
      ['a', 'team', 'ü/b', 'note']
        .filter(() => random.chance(0.6))
        .map((key) => [key, random.pick(['x', 'y', '"]},"', '\\', '\u0000é'])]),
    );
  const owners = [{ uid: 'o1' }, { controller: true, uid: random.pick(UIDS) }];
  const members: [string, Json][] = [
    ['generation', random.below(9)],
    ['creationTimestamp', '2026-01-01T00:00:00Z'],
    ['deletionTimestamp', '2026-01-02T00:00:00Z'],
    ['labels', texts()],
    ['annotations', texts()],
    ['ownerReferences', owners],
    [
      'managedFields',
      random.pick<Json>([
        [],
        null,
        [{ manager: 'm', fieldsV1: { 'f:x': {} } }],
        [{ a: [randomJson(random, 2)] }],
      ]),
    ],
  ];
  const identity: [string, Json][] = [
    ['name', name],
    ['namespace', 'd'],
    ['uid', random.pick(UIDS)],
    ['resourceVersion', version],
  ];
  const kept = [...identity, ...members.filter(() => random.chance(0.7))];
  const metadata: [string, Json] = [
    'metadata',
    Object.fromEntries(random.chance(0.5) ? kept : random.shuffle(kept)),
  ];
  const rest: [string, Json][] = [
    ['spec', random.chance(0.7) ? { nodeName: 'n', more: randomJson(random) } : randomJson(random)],
    ['data', randomJson(random)],
    ['status', randomJson(random)],
  ];
  const type: [string, Json][] = [
    ['kind', 'ConfigMap'],
    ['apiVersion', 'v1'],
  ];
  const all = [...type, metadata, ...rest.filter(() => random.chance(0.7))];
  return Object.fromEntries(random.chance(0.7) ? all : random.shuffle(all));
}

/** Returns a later state, with other members of metadata behind the former or not. */
function changedObject(random: Seeded, before: Json, resourceVersion: string): Json {
  const object = structuredClone(before) as { metadata: { [key: string]: Json }; [key: string]: Json };
  const { metadata } = object;
  metadata['resourceVersion'] = resourceVersion;
  if (random.chance(0.5)) object['status'] = randomJson(random);
  if (random.chance(0.4)) delete metadata['labels'];
  if (random.chance(0.3)) metadata['labels'] = { team: random.pick(['x', 'z']) };
  return object;
}

function eventOf(random: Seeded, type: string, object: Json): string {
  const style = random.pick(STYLES);
  const text = writeJson(object, random, style);
  const envelope = random.chance(0.5) ? COMPACT : style;
  const members = [
    `${writeJson('type', random, envelope)}:"${type}"`,
    `${writeJson('object', random, envelope)}:${text}`,
  ];
  if (random.chance(0.1)) members.reverse();
  return `{${members.join()}}`;
}

/** A server with an empty list, whose watches all receive the same bytes. */
class WatchedServer {
  readonly watches: Set<Socket> = new Set();
  readonly #sockets: Set<Socket> = new Set();
  readonly #server = createServer({ noDelay: true }, (socket) => this.#serve(socket));

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async send(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      const head = Buffer.from(`${piece.length.toString(16)}\r\n`);
      for (const socket of this.watches) socket.write(Buffer.concat([head, piece, Buffer.from('\r\n')]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket.on('error', () => {}).on('close', () => this.watches.delete(socket)));
    socket.on('data', (request) => {
      const isWatch = request.includes('watch=');
      if (isWatch) this.watches.add(socket);
      const list = '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}';
      const framing = isWatch
        ? 'Transfer-Encoding: chunked\r\n\r\n'
        : `Content-Length: ${list.length}\r\n\r\n${list}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${framing}`);
    });
  }
}

function cutsOf(random: Seeded, body: Buffer): Buffer[] {
  const cuts = Array.from({ length: random.below(4) }, () => random.below(body.length)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, index) => body.subarray(from, cuts[index] ?? body.length))
    .filter(({ length }) => length > 0);
}

type Informers = Record<string, SharedIndexInformer<object>>;

function informersOf(url: string, threads: InformerThreads, fail: (complaint: string) => void): Informers {
  const informers: Informers = {};
  const indexers = { team: label('team') };
  for (const codec of ['json', 'msgpack'] as const) {
    for (const [what, transform] of Object.entries(TRANSFORMS)) {
      informers[`${codec} ${what}`] = new SharedIndexInformer<object>(kubeConfigFor(url), CONFIG_MAPS, {
        threads,
        codec,
        indexers,
        fields: what.endsWith('bare') ? [] : FIELDS,
        list: { watchList: 'off' },
        onError: (error) => fail(`${codec} ${what}: ${error.message}`),
        ...(transform === undefined ? {} : { transform }),
      });
    }
  }
  return informers;
}

/** The latest state of each object of a case, and the JSON that the server sent. */
type Sent = ReadonlyMap<string, readonly [object: Json, text: string]>;

class Writer {
  version = 10;
  readonly #known = new Set<string>();

  /** Makes the events of a case. */
  write(random: Seeded): { readonly body: Buffer; readonly sent: Sent } {
    const sent = new Map<string, readonly [Json, string]>();
    const texts: string[] = [];
    let object: Json | undefined;
    for (let count = 1 + random.below(6); count > 0; count--) {
      const version = String(++this.version);
      const before = random.chance(0.6) ? object : undefined;
      object =
        before === undefined
          ? randomObject(random, `o${random.below(6)}`, version)
          : changedObject(random, before, version);
      const { name } = (object as unknown as Kube).metadata;
      const text = eventOf(random, this.#known.has(name) ? 'MODIFIED' : 'ADDED', object);
      this.#known.add(name);
      sent.set(name, [object, text]);
      texts.push(text + random.pick(BETWEEN));
    }
    return { body: Buffer.from(texts.join('')), sent };
  }
}

function check(
  probe: Probe,
  where: string,
  seen: Seen | undefined,
  [object, text]: readonly [Json, string],
): void {
  const expected = structuredClone(object) as unknown as Kube;
  const read = seenOf({ object: where.includes('plain') ? expected : decorate(expected) });
  const want = where.includes('bare') ? { ...read, fields: {} } : read;
  const [is, should] = [seen, want].map((each) => JSON.stringify(each));
  probe.want(
    isDeepStrictEqual(seen, want),
    `${where}: ${text}\n    read as   ${is}\n    should be ${should}`,
  );
}

const WRITERS: FuzzTarget = {
  name: 'writers',
  quickCases: 40,
  cases: 1000,
  open: async () => {
    const server = new WatchedServer();
    const threads = new InformerThreads({ indexerThreads: 0 });
    let current: Probe | undefined;
    const informers = informersOf(await server.start(), threads, (complaint) => current?.fail(complaint));
    const all = Object.values(informers);
    for (const informer of all) void informer.run();
    const cachePort = new SharedCache(informers).port();
    const { transferList } = cachePort;
    const reader = new Worker(READER, {
      workerData: { cachePort, names: Object.keys(informers) },
      transferList,
    });
    const inThread = new Map<string, Seen>();
    reader.on('message', ([where, seen]: [string, Seen]) => inThread.set(`${where} ${seen.name}`, seen));
    await Promise.all([once(reader, 'message'), ...all.map((informer) => informer.waitForSync())]);
    await until(() => server.watches.size === all.length);
    const writer = new Writer();
    const run: FuzzCase = async (chance, probe) => {
      current = probe;
      const random = new Seeded(chance.integer(1, 2 ** 31));
      const { body, sent } = writer.write(random);
      await server.send(cutsOf(random, body));
      for (const [where, informer] of Object.entries(informers)) {
        await until(() => informer.lastSyncResourceVersion() === String(writer.version));
        for (const [name, state] of sent) {
          const entry = informer.getIndexer().getByKey(`d/${name}`);
          check(probe, where, entry && seenOf(entry), state);
          const team = entry?.labels['team'];
          const keys = team === undefined ? [`d/${name}`] : informer.getIndexer().indexKeys('team', team);
          probe.want(keys.includes(`d/${name}`), `${where}: the index lacks ${name}: ${state[1]}`);
          const { resourceVersion } = (state[0] as unknown as Kube).metadata;
          await until(() => inThread.get(`${where} ${name}`)?.version === resourceVersion);
          check(probe, `${where} thread`, inThread.get(`${where} ${name}`), state);
        }
      }
    };
    const close = async (): Promise<void> => {
      for (const informer of all) await informer.shutdown();
      await reader.terminate();
      await threads.close();
      server.close();
    };
    return { run, close };
  },
};

export const WRITER_TARGETS: readonly FuzzTarget[] = [WRITERS];

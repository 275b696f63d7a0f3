/** Hostile answers of a server, through real sockets: to single requests, lists, watches and informers. */
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { CachedObject } from '../../src/index.ts';
import { newListWatchFromClient } from '../../src/client-go/index.ts';
import { ApiClient } from '../../src/http/api-client.ts';
import { CONFIG_MAPS, kubeConfigFor } from '../security/bare-server.ts';
import { CANARY } from '../security/canary.ts';
import type { Chance } from '../sim/chance.ts';
import { TOKEN, hostileObject, mutated } from './hostile.ts';
import type { FuzzTarget, Probe } from './probe.ts';
import { RawServer } from './raw-server.ts';
import type { RawAnswer } from './raw-server.ts';
import { until } from '../kit/until.ts';

/** Time after which a caller gives up an answer that has no end. */
const PATIENCE_MS = 30;

const STATUSES = (
  '200 OK|200|201 x|204 No Content|301 Moved|304 Same|401 No|403 No|404 None|409 x|410 Gone|422 x|429 Slow|' +
  `500 x|503 x|504 x|099 x|999 x|500 ${TOKEN}`
).split('|');
const HEADERS = [
  'Content-Type: application/json',
  'Retry-After: 0',
  'Retry-After: 1e9',
  'Retry-After: -1',
  'Content-Encoding: gzip',
  'Transfer-Encoding: gzip, chunked',
  'Content-Length: 5',
  'Content-Length: 99999999999999999999',
  'Content-Length: -1',
  'Location: https://elsewhere.test/',
  `Warning: 299 - "${TOKEN}"`,
  `X-Echo: ${TOKEN}`,
  'Connection: close',
  'Connection: keep-alive',
  ' folded: x',
  'no colon',
  'Upgrade: h2c',
  `X: ${'y'.repeat(9000)}`,
];
const CAUSES = [{ message: `Bearer ${TOKEN}`, field: TOKEN, reason: 7 }, null, 'x'];

function statusBody(chance: Chance): string {
  return JSON.stringify({
    kind: chance.pick(['Status', 'Other', 7]),
    code: chance.pick([400, 401, 403, 404, 410, 429, 500, '500', null, 1e9]),
    reason: chance.pick(['Expired', 'NotFound', TOKEN, 7, {}]),
    message: chance.pick([
      `Bearer ${TOKEN} is not valid`,
      `because ${TOKEN}`,
      'x',
      null,
      {},
      '\u001b[31mred',
    ]),
    details: chance.pick([
      undefined,
      null,
      7,
      { causes: CAUSES, name: TOKEN, retryAfterSeconds: 1e300 },
      { causes: {} },
    ]),
  });
}

function listBody(chance: Chance, items: readonly string[]): string {
  const version = chance.happens(0.95) ? '"9"' : (chance.pick(['null', '9', '""', '"x"', '"\\u0039"']) ?? '');
  const text = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":${version}},"items":[${items.join()}]}`;
  return chance.happens(0.15) ? mutated(chance, text) : text;
}

/** Returns the bytes of an answer with this body; often with a wrong status, header or framing. */
function answerWith(chance: Chance, body: string, isEvil: boolean): RawAnswer {
  const status = isEvil && chance.happens(0.6) ? chance.pick(STATUSES) : '200 OK';
  const headers = isEvil ? HEADERS.filter(() => chance.happens(0.08)) : [];
  const isChunked = chance.happens(0.6);
  headers.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`);
  const head = `HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n`;
  let text = head + (isChunked ? `${chunksOf(chance, body)}0\r\n\r\n` : body);
  if (isEvil && chance.happens(0.4)) text = mutated(chance, text);
  return {
    pieces: piecesOf(chance, Buffer.from(text)),
    ending: isEvil ? chance.pick(['end', 'end', 'cut', 'silence']) : 'end',
  };
}

function chunksOf(chance: Chance, body: string): string {
  return piecesOf(chance, Buffer.from(body))
    .map((piece) => `${piece.length.toString(16)}\r\n${String(piece)}\r\n`)
    .join('');
}

/** Cuts between characters, so that a piece may be text. */
function piecesOf(chance: Chance, bytes: Buffer): Buffer[] {
  const text = bytes.toString();
  const cut = chance.integer(0, text.length);
  return [text.slice(0, cut), text.slice(cut)]
    .filter((piece) => piece !== '')
    .map((piece) => Buffer.from(piece));
}

interface World {
  readonly server: RawServer;
  readonly config: ReturnType<typeof kubeConfigFor>;
}

/** Returns a target whose cases share a server. */
function targetOn(
  name: string,
  cases: number,
  run: (world: World, chance: Chance, probe: Probe) => Promise<void>,
): FuzzTarget {
  return {
    name,
    quickCases: 100,
    cases,
    open: async () => {
      const server = await RawServer.start();
      const config = kubeConfigFor(server.url, { token: TOKEN });
      return { run: (chance, probe) => run({ server, config }, chance, probe), close: () => server.close() };
    },
  };
}

/** Calls with a signal that ends the wait for an answer without an end; that is no error. Other answers need no patience. */
async function impatiently<R>(
  probe: Probe,
  { ending }: RawAnswer,
  where: string,
  call: (signal: AbortSignal) => Promise<R>,
): Promise<R | undefined> {
  const patience = new AbortController();
  const reason = new Error('no patience');
  const timer = ending === 'silence' ? setTimeout(() => patience.abort(reason), PATIENCE_MS) : undefined;
  try {
    return await call(patience.signal);
  } catch (error) {
    if (error !== reason) probe.error(error, where);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

const RESPONSES = targetOn('responses', 3000, async ({ server, config }, chance, probe) => {
  const isEvil = chance.happens(0.8);
  const value = { kind: 'X', data: { password: CANARY } };
  const body = isEvil && chance.happens(0.6) ? statusBody(chance) : JSON.stringify(value);
  const answer = answerWith(chance, body, isEvil);
  server.answer = () => answer;
  const client = new ApiClient(config);
  const read = await impatiently(probe, answer, 'getJson', (signal) => client.getJson('/x', signal));
  if (!isEvil) probe.want(JSON.stringify(read) === body, 'a valid answer was not read');
  const method = chance.pick(['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const);
  await impatiently(probe, answer, 'send', (signal) =>
    client.send({
      method,
      path: '/x',
      verb: 'get',
      signals: [signal],
      ...(method === 'GET' ? {} : { body: {} }),
    } as never),
  );
});

const LISTS = targetOn('lists', 8000, async ({ server, config }, chance, probe) => {
  const isEvil = chance.happens(0.7);
  const names = Array.from({ length: chance.integer(0, 5) }, (_, index) => `n${index}`);
  const items = names.map((name) =>
    isEvil ? hostileObject(chance, name) : `{"metadata":{"name":"${name}","resourceVersion":"7"}}`,
  );
  const answer = answerWith(
    chance,
    isEvil ? listBody(chance, items) : `{"metadata":{"resourceVersion":"9"},"items":[${items.join()}]}`,
    isEvil && chance.happens(0.3),
  );
  server.answer = () => answer;
  const source = newListWatchFromClient<{ metadata: { name: string } }>(config, CONFIG_MAPS);
  const list = await impatiently(probe, answer, 'list', (signal) => source.list({}, signal));
  if (!isEvil)
    probe.want(
      list?.items?.map(({ metadata }) => metadata.name).join() === names.join(),
      'a valid list was not read',
    );
});

function lineOf(chance: Chance, name: string): string {
  const type = chance.happens(0.8)
    ? 'ADDED'
    : chance.pick(['MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'OTHER', '']);
  const object = type === 'ERROR' ? statusBody(chance) : hostileObject(chance, name);
  const line = `{"type":"${type}","object":${object}}`;
  return `${chance.happens(0.1) ? mutated(chance, line) : line}\n`;
}

const WATCHES = targetOn('watches', 15000, async ({ server, config }, chance, probe) => {
  const lines = Array.from({ length: chance.integer(1, 6) }, (_, index) => lineOf(chance, `n${index}`));
  const answer = answerWith(chance, lines.join(''), chance.happens(0.3));
  server.answer = () => answer;
  const source = newListWatchFromClient<object>(config, CONFIG_MAPS);
  await impatiently(probe, answer, 'watch', async (signal) => {
    for await (const event of await source.watch({}, signal))
      probe.want(typeof event.type === 'string', 'an event without a type');
  });
});

const GOOD =
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"good","namespace":"d","uid":"u","resourceVersion":"5","labels":{"a":"b"}}}';

const MEMBERS = ['spec', 'status', 'data', '__proto__', 'absent'];

function isEqual(a: unknown, b: unknown): boolean {
  // Without recursion: objects may have thousands of levels.
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [one, other] = pair;
    if (Object.is(one, other)) continue;
    if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
    const [names, others] = [Object.keys(one), Object.keys(other)];
    if (Array.isArray(one) !== Array.isArray(other) || names.join('\0') !== others.join('\0')) return false;
    for (const name of names) pairs.push([Reflect.get(one, name), Reflect.get(other, name)]);
  }
  return true;
}

/** Reads members before the object, so that each is parsed alone, and checks them with the object if it can be read. */
async function checkEntry(entry: CachedObject<object>, probe: Probe): Promise<void> {
  const members = new Map<string, unknown>();
  for (const name of MEMBERS) await probe.attempt('member', () => void members.set(name, entry.member(name)));
  const object = await probe.attempt<{ metadata?: Record<string, unknown> }>('object', () => entry.object);
  const { name, uid } = object?.metadata ?? { name: entry.name };
  probe.want(
    name === entry.name && (typeof uid !== 'string' || uid === entry.uid),
    `two identities: ${entry.key}`,
  );
  if (object === undefined) return;
  for (const member of MEMBERS) {
    const expected: unknown = Object.hasOwn(object, member) ? Reflect.get(object, member) : undefined;
    const isRead = members.has(member) && isEqual(members.get(member), expected);
    probe.want(isRead, `${member} of ${entry.key} is another than in the object`);
  }
}

/** Hostile objects beside a good one: the good one is delivered whatever the others are, and entries are true. */
const INFORMERS: FuzzTarget = {
  name: 'informers',
  quickCases: 20,
  cases: 3000,
  open: async () => {
    const server = await RawServer.start();
    const threads = new InformerThreads({ indexerThreads: 0 });
    const config = kubeConfigFor(server.url, { token: TOKEN });
    const run = async (chance: Chance, probe: Probe): Promise<void> => {
      const hostile = Array.from({ length: chance.integer(0, 4) }, (_, index) =>
        hostileObject(chance, `n${index}`),
      );
      // A damaged object may have no end: the good one is before it.
      const body = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${[GOOD, ...hostile].join()}]}`;
      const lines = Array.from({ length: chance.integer(0, 4) }, (_, index) =>
        lineOf(chance, `w${index}`),
      ).join('');
      const isEvil = chance.happens(0.2);
      const [list, watch] = [answerWith(chance, body, isEvil), answerWith(chance, lines, isEvil)].map(
        (answer) => ({ ...answer, ending: 'end' as const }),
      );
      server.answer = (line) => (line.includes('watch=') ? watch : list) as RawAnswer;
      const reports = { count: 0 };
      await using informer = new SharedIndexInformer<object>(config, CONFIG_MAPS, {
        threads,
        codec: chance.pick(['json', 'msgpack']),
        fields: chance.happens(0.5) ? ['data.password', 'spec'] : [],
        list: { watchList: 'off' },
        backoff: { initialMs: 1, maxMs: 2 },
        onError: (error) => {
          reports.count++;
          probe.error(error, 'onError');
        },
      });
      void informer.run();
      // A case with neither a list nor a report hangs. After a report, a few more may come.
      let looks = 0;
      await until(() => informer.hasSynced() || (reports.count > 0 && (reports.count > 2 || ++looks > 200)));
      if (informer.hasSynced())
        probe.want(informer.getIndexer().getByKey('d/good') !== undefined, 'the good object is missing');
      for (const entry of informer.getIndexer().list()) await checkEntry(entry, probe);
      probe.text([informer.health, informer.lastError, informer], 'the informer');
    };
    const close = async (): Promise<void> => {
      await threads.close();
      await server.close();
    };
    return { run, close };
  },
};

export const ANSWER_TARGETS: readonly FuzzTarget[] = [RESPONSES, LISTS, WATCHES, INFORMERS];

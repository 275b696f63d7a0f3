/**
 * The high-rate source as the demo's server: a fixed number of changes, as fast as the client takes them.
 * Every watch of it sees the same changes, so a plain watch taken afterwards is its log.
 */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { JournalEntry } from '../embedded/journal.ts';
import { startHighRateSource } from '../embedded/source.ts';
import type { HighRateSource } from '../embedded/source.ts';
import type { DemoServer, Truth } from './demo-server.ts';

export interface UnlimitedLoad {
  readonly pods: number;
  readonly objectBytes: number;
  readonly events: number;
}

export class UnlimitedServer implements DemoServer {
  readonly kubeConfig: string;
  readonly listedAt: number;
  readonly #source: HighRateSource;
  readonly #load: UnlimitedLoad;

  private constructor(source: HighRateSource, load: UnlimitedLoad) {
    this.#source = source;
    this.#load = load;
    this.listedAt = source.listRevision;
    this.kubeConfig = sourceKubeConfig(source.url);
  }

  static async start(load: UnlimitedLoad): Promise<UnlimitedServer> {
    return new UnlimitedServer(await startHighRateSource(load), load);
  }

  /** Every watch is sent everything as soon as it is open: there is nothing to be started. */
  load(): Promise<number> {
    return Promise.resolve(this.#load.events);
  }

  issued(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async truth(sample: ReadonlySet<string>, signal: AbortSignal): Promise<Truth> {
    const journal: JournalEntry[] = [];
    const state = new Map<string, string>();
    const bytes = new Map<string, Buffer>();
    const last = this.listedAt + this.#load.events;
    for await (const line of linesOf(await this.#watch(signal))) {
      const event = readEvent(line);
      if (!event) continue;
      journal.push([event.revision, event.type, event.key]);
      state.set(event.key, String(event.revision));
      if (sample.has(event.key)) bytes.set(event.key, Buffer.from(event.object));
      if (event.revision === last) break;
    }
    return { journal, changes: journal.length - this.#load.pods, state, bytes };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#source.close();
  }

  #watch(signal: AbortSignal): Promise<IncomingMessage> {
    const query = 'watch=true&sendInitialEvents=true&allowWatchBookmarks=true';
    return new Promise((resolve, reject) => {
      get(`${this.#source.url}/api/v1/pods?${query}`, { signal }, resolve).on('error', reject);
    });
  }
}

/** client-node refuses plain HTTP unless told that verification is not wanted. */
export function sourceKubeConfig(url: string): string {
  const name = 'kubeloom-source';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

const LINE_FEED = 10;

async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(LINE_FEED); end >= 0; end = data.indexOf(LINE_FEED, start)) {
      yield data.subarray(start, end);
      start = end + 1;
    }
    rest = data.subarray(start);
  }
}

interface SourceEvent {
  readonly type: 'ADDED' | 'MODIFIED';
  readonly key: string;
  readonly revision: number;
  readonly object: Buffer;
}

const OBJECT = '"object":';

/** Reads the shape that this one server writes: `{"type":"…","object":{…,"metadata":{…}…}}`. */
function readEvent(line: Buffer): SourceEvent | undefined {
  const type = textAfter(line, '{"type":"', 0);
  if (type !== 'ADDED' && type !== 'MODIFIED') return undefined;
  const metadata = line.indexOf('"metadata":{');
  const namespace = textAfter(line, '"namespace":"', metadata);
  const name = textAfter(line, '"name":"', metadata);
  const revision = Number(textAfter(line, '"resourceVersion":"', metadata));
  const object = line.subarray(line.indexOf(OBJECT) + OBJECT.length, line.length - 1);
  return { type, key: `${namespace}/${name}`, revision, object };
}

function textAfter(line: Buffer, prefix: string, from: number): string {
  const start = line.indexOf(prefix, from, 'latin1') + prefix.length;
  return line.toString('latin1', start, line.indexOf('"', start));
}

/**
 * `await settled(factory, queue)` waits until the stores have every event that the server has sent, every handler call,
 * promises included, has ended, and every item of the queues has been reconciled. The server sends a bookmark on every
 * watch. An informer that has received the bookmark has received every earlier event. Then handlers and queues are
 * checked, and then the server again: when one of them has written to it, the next round begins. Checks run every
 * millisecond, on timers that fake timers cannot stop.
 */
import { realTimers } from '../../../base/clock.ts';
import { EmbeddedApiServer, runningServer } from '../run/embedded-server.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { isListerWatcher } from '../../../kube/list-watch.ts';
import type { ListerWatcher } from '../../../kube/list-watch.ts';
import { compareResourceVersions } from '../../../kube/resource-version.ts';
import { isServerConnection } from '../../../kube/server-source.ts';
import type { ServerSource } from '../../../kube/server-source.ts';

/** The part of an informer that the wait needs; every informer has it. */
export interface Settleable {
  readonly name: string;
  readonly source: ServerSource | ListerWatcher<unknown>;
  readonly busyHandlers: readonly string[];
  isStopped(): boolean;
  lastSyncResourceVersion(): string;
}

/** The part of a work queue that the wait needs; every work queue of kubeloom has it. */
export interface SettleableQueue {
  readonly name: string;
  /** Number of items that wait for a worker. */
  readonly length: number;
  /** Number of items that workers have. */
  readonly inWork: number;
  /** Number of failed items that wait for their next attempt. */
  readonly retrying: number;
}

/** An object that has informers, queues or both: a factory, a cache of kinds, a program of the user. */
export interface SettleableParts {
  readonly informers?: Iterable<Settleable>;
  readonly queues?: Iterable<SettleableQueue>;
}

/** An informer, a work queue, a collection of them, or an object that has some. */
export type SettledThing =
  | Settleable
  | SettleableQueue
  | SettleableParts
  | Iterable<Settleable | SettleableQueue>;

export interface SettledOptions {
  /** Ends the wait with ERR_KUBELOOM_NOT_SETTLED, which names the cause. */
  readonly signal?: AbortSignal;
}

/** The server behind an informer: a source sends its bookmarks and returns the version that informers reach with them. */
type Server = EmbeddedApiServer | { sendBookmarks(): Promise<string> | string };

const LOOK_INTERVAL_MS = 1;
/**
 * Number of checks after which the bookmark is sent again: a watch that was being opened, or was behind, did
 * not receive it.
 */
const LOOKS_PER_BOOKMARK = 20;

/**
 * Resolves when everything that was written has been delivered, handled and reconciled. It also waits until an informer
 * is started. An item that failed is waited for until it succeeds, or is given up; an item that only asked to be
 * reconciled again later (`requeueAfterMs`) is not. Inside a handler or a reconciliation it would never resolve, because
 * it waits for that call. @throws ERR_KUBELOOM_NOT_SETTLED when the signal is aborted, or an informer has stopped
 */
export async function settled(...things: readonly (SettledThing | SettledOptions)[]): Promise<void> {
  const signal = things.find(isOptions)?.signal;
  let before: ReadonlyMap<Server, string> = new Map();
  for (;;) {
    // Again in each round: a factory or a controller may have more informers by then.
    const { informers, queues } = partsOf(things);
    const servers = new Map(informers.map((informer) => [informer, serverOf(informer)]));
    const targets = await bookmarks(servers.values());
    const unsettled = (): string[] => [
      ...informers.flatMap((informer) =>
        whatIsMissing(informer, targets.get(servers.get(informer) as Server)),
      ),
      ...queues.flatMap(whatIsQueued),
    ];
    // The same version twice: nothing has been written between the two rounds.
    const isUnchanged = [...targets].every(([server, version]) => before.get(server) === version);
    if (isUnchanged && unsettled().length === 0) return;
    giveUpIfWanted(signal, unsettled());
    for (let looks = 0; looks < LOOKS_PER_BOOKMARK && unsettled().length > 0; looks++) {
      giveUpIfWanted(signal, unsettled());
      await new Promise((resolve) => realTimers.setTimeout(resolve, LOOK_INTERVAL_MS));
    }
    before = unsettled().length === 0 ? targets : new Map();
  }
}

interface Parts {
  readonly informers: readonly Settleable[];
  readonly queues: readonly SettleableQueue[];
}

function isOptions(thing: SettledThing | SettledOptions): thing is SettledOptions {
  return !['source', 'inWork', 'informers', 'queues', Symbol.iterator].some((member) => member in thing);
}

function isQueue(thing: Settleable | SettleableQueue): thing is SettleableQueue {
  return 'inWork' in thing;
}

function partsOf(things: readonly (SettledThing | SettledOptions)[]): Parts {
  const single = things.flatMap((thing): readonly (Settleable | SettleableQueue)[] => {
    if (isOptions(thing)) return [];
    if (Symbol.iterator in thing) return [...thing];
    if ('source' in thing || 'inWork' in thing) return [thing];
    return [...(thing.informers ?? []), ...(thing.queues ?? [])];
  });
  const informers = single.filter((thing): thing is Settleable => !isQueue(thing));
  return { informers, queues: single.filter(isQueue) };
}

function whatIsQueued({ name, length, inWork, retrying }: SettleableQueue): string[] {
  const counts = Object.entries({ waiting: length, 'in work': inWork, 'to be tried again': retrying });
  const found = counts.flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
  return found.length === 0 ? [] : [`queue ${name === '' ? 'without a name' : name}: ${found.join(', ')}`];
}

async function bookmarks(servers: Iterable<Server>): Promise<Map<Server, string>> {
  const targets = new Map<Server, string>();
  for (const server of new Set(servers)) targets.set(server, await bookmark(server));
  return targets;
}

async function bookmark(server: Server): Promise<string> {
  if (!(server instanceof EmbeddedApiServer)) return server.sendBookmarks();
  // Read first: the bookmarks carry at least this version.
  const revision = await server.revision();
  await server.sendBookmarks();
  return String(revision);
}

function whatIsMissing(informer: Settleable, target: string = ''): string[] {
  const { name, busyHandlers } = informer;
  const version = informer.lastSyncResourceVersion();
  if (informer.isStopped()) return [`${name} has stopped`];
  if (version === '') return [`${name} has not synced`];
  if (compareResourceVersions(version, target) < 0)
    return [`${name} is at ${version}, its server at ${target}`];
  return busyHandlers.length === 0
    ? []
    : [`${name}: these handlers are still running: ${busyHandlers.join(', ')}`];
}

function giveUpIfWanted(signal: AbortSignal | undefined, unsettled: readonly string[]): void {
  const isHopeless = unsettled.some((what) => what.endsWith('has stopped'));
  if (!signal?.aborted && !isHopeless) return;
  const what = unsettled.length > 0 ? unsettled.join('; ') : 'the server never stops changing';
  const message = `not settled: ${what}`;
  throw new KubeloomError('ERR_KUBELOOM_NOT_SETTLED', message, { cause: signal?.reason });
}

function serverOf({ name, source }: Settleable): Server {
  if (isListerWatcher(source)) {
    if ('sendBookmarks' in source && typeof source.sendBookmarks === 'function')
      return source as Server & object;
    throw unknownServer(name, 'its ListerWatcher has no sendBookmarks()');
  }
  const url = isServerConnection(source) ? source.server : (source.getCurrentCluster()?.server ?? '');
  const server = runningServer(url);
  if (!server)
    throw unknownServer(name, `no embedded apiserver of this process is at ${url || 'its address'}`);
  return server;
}

function unknownServer(name: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `settled() cannot ask the server of ${name}: ${why}; use startEmbeddedApiServer or a FakeControllerSource`,
  );
}

/**
 * `await settled(informer)`: everything that the server has sent is in the store, and every handler call,
 * promises included, is done.
 *
 * The server is asked to send a bookmark on every watch: an informer that has come to it has everything from
 * before. Then its handlers are looked at, and then the server again: if it has moved on, because a handler
 * wrote something, the next round begins. Looking is done every millisecond, on timers that fakes cannot stop.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { realTimers } from '../clock.ts';
import { runningServer } from '../embedded/running.ts';
import { KubeloomError } from '../errors.ts';
import { isListerWatcher } from '../kube/list-watch.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import { compareResourceVersions } from '../kube/resource-version.ts';

/** What can be waited for: every informer. */
export interface Settleable {
  readonly name: string;
  readonly source: KubeConfig | ListerWatcher<unknown>;
  readonly busyHandlers: readonly string[];
  isStopped(): boolean;
  lastSyncResourceVersion(): string;
}

/** An informer, a collection of them, or what has one: a factory. */
export type SettledThing = Settleable | Iterable<Settleable> | { readonly informers: Iterable<Settleable> };

export interface SettledOptions {
  /** Ends the waiting with ERR_KUBELOOM_NOT_SETTLED, which says what had not settled. */
  readonly signal?: AbortSignal;
}

/** The server behind an informer, as far as it matters here. */
interface Server {
  /** Makes every watch hear how far the server is. @returns the version that informers reach with that */
  sendBookmarks(): Promise<string> | string;
}

const LOOK_INTERVAL_MS = 1;
/** A watch that was just being opened, or was behind, has not got the bookmark: it is sent again. */
const LOOKS_PER_BOOKMARK = 20;

/**
 * Do not call it inside a handler: it waits for that handler's call. An informer that has not been started
 * is waited for.
 *
 * @throws ERR_KUBELOOM_NOT_SETTLED when the signal is aborted, or an informer has stopped
 */
export async function settled(...things: readonly (SettledThing | SettledOptions)[]): Promise<void> {
  const options = things.find(isOptions);
  const informers = things.flatMap((thing) => (isOptions(thing) ? [] : informersOf(thing)));
  const servers = new Map(informers.map((informer) => [informer, serverOf(informer)]));
  let before: ReadonlyMap<Server, string> = new Map();
  for (;;) {
    const targets = await bookmarks(servers.values());
    const unsettled = (): string[] =>
      informers.flatMap((informer) => whatIsMissing(informer, targets.get(servers.get(informer) as Server)));
    // Twice in a row the same: between the two nothing has come.
    const isUnchanged = [...targets].every(([server, version]) => before.get(server) === version);
    if (isUnchanged && unsettled().length === 0) return;
    giveUpIfWanted(options?.signal, unsettled());
    for (let looks = 0; looks < LOOKS_PER_BOOKMARK && unsettled().length > 0; looks++) {
      giveUpIfWanted(options?.signal, unsettled());
      await new Promise((resolve) => realTimers.setTimeout(resolve, LOOK_INTERVAL_MS));
    }
    before = unsettled().length === 0 ? targets : new Map();
  }
}

function isOptions(thing: SettledThing | SettledOptions): thing is SettledOptions {
  return !(Symbol.iterator in thing || 'informers' in thing || 'source' in thing);
}

function informersOf(thing: SettledThing | SettledOptions): readonly Settleable[] {
  if (Symbol.iterator in thing) return [...thing];
  if ('informers' in thing) return [...thing.informers];
  return [thing as Settleable];
}

async function bookmarks(servers: Iterable<Server>): Promise<Map<Server, string>> {
  const targets = new Map<Server, string>();
  for (const server of new Set(servers)) targets.set(server, await server.sendBookmarks());
  return targets;
}

function whatIsMissing(informer: Settleable, target: string = ''): string[] {
  const { name, busyHandlers } = informer;
  const version = informer.lastSyncResourceVersion();
  if (informer.isStopped()) return [`${name} has stopped`];
  if (version === '') return [`${name} has not synced`];
  if (compareResourceVersions(version, target) < 0)
    return [`${name} is at ${version}, its server at ${target}`];
  return busyHandlers.length === 0 ? [] : [`${name}: not done: ${busyHandlers.join(', ')}`];
}

function giveUpIfWanted(signal: AbortSignal | undefined, unsettled: readonly string[]): void {
  const isHopeless = unsettled.some((what) => what.endsWith('has stopped'));
  if (!signal?.aborted && !isHopeless) return;
  const what = unsettled.length > 0 ? unsettled.join('; ') : 'the server has something new all the time';
  const message = `not settled: ${what}`;
  throw new KubeloomError('ERR_KUBELOOM_NOT_SETTLED', message, { cause: signal?.reason });
}

const embeddedServers: WeakMap<object, Server> = new WeakMap();

function serverOf({ name, source }: Settleable): Server {
  if (isListerWatcher(source)) {
    if ('sendBookmarks' in source && typeof source.sendBookmarks === 'function')
      return source as Server & object;
    throw unknownServer(name, 'its ListerWatcher has no sendBookmarks()');
  }
  const url = source.getCurrentCluster()?.server ?? '';
  const server = runningServer(url);
  if (!server)
    throw unknownServer(name, `no embedded apiserver of this process is at ${url || 'its address'}`);
  const known = embeddedServers.get(server) ?? {
    // Asked for first: what the bookmarks say is at least that.
    sendBookmarks: async () => {
      const revision = await server.revision();
      await server.sendBookmarks();
      return String(revision);
    },
  };
  embeddedServers.set(server, known);
  return known;
}

function unknownServer(name: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `settled() cannot ask the server of ${name}: ${why}; use startEmbeddedApiServer or a FakeControllerSource`,
  );
}

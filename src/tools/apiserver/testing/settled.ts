/**
 * `await settled(factory, queue)` waits until the stores hold every event that the server sent, every handler call,
 * including the promise, has ended, and every item of the queues is reconciled. The server sends a bookmark on every
 * watch. An informer that received the bookmark received every earlier event. After that, handlers and queues are
 * checked, followed by the server: if a handler or a reconciliation wrote to it, the next round begins. Checks run
 * every millisecond, on timers that fake timers cannot stop.
 */
import { realClock, realTimers } from '../../../base/clock.ts';
import { EmbeddedApiServer, runningServer } from '../run/embedded-server.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { number, signal as aSignal, checkOptions } from '../../../base/option-checks.ts';
import type { OptionChecks } from '../../../base/option-checks.ts';
import { isListerWatcher } from '../../../kube/lister-watcher.ts';
import type { ListerWatcher } from '../../../kube/lister-watcher.ts';
import { compareResourceVersions } from '../../../kube/resource-version.ts';
import { isServerConnection } from '../../../kube/server-source.ts';
import type { ServerSource } from '../../../kube/server-source.ts';

/** The part of an informer that the wait needs; every informer provides it. */
export interface Settleable {
  /** Name in the error. */
  readonly name: string;
  /**
   * Connection or KubeConfig of an embedded apiserver of this process, or a ListerWatcher with `sendBookmarks`. Any
   * other source causes ERR_KUBELOOM_OPTION.
   */
  readonly source: ServerSource | ListerWatcher<unknown>;
  /** Names of the handlers with pending notifications, or with a call or promise in progress. */
  readonly busyHandlers: readonly string[];
  /** Returns whether the informer has stopped: the wait is then given up. */
  isStopped(): boolean;
  /** Returns the version up to which the informer received the changes; '' before the first list. */
  lastSyncResourceVersion(): string;
}

/** The part of a work queue that the wait needs; every work queue of kubeloom provides it. */
export interface SettleableQueue {
  /** Name in the error; may be ''. */
  readonly name: string;
  /** Number of items that wait for a worker. */
  readonly length: number;
  /** Number of items that workers process. */
  readonly inWork: number;
  /** Number of failed items that wait for their next attempt. */
  readonly retrying: number;
  /** The latest failure of an item that will be retried: the cause if the wait is given up. */
  readonly lastFailure?: { readonly key: unknown; readonly error: unknown } | undefined;
}

/** An object with informers, queues or both: a factory, a cache of kinds, a program of the user. */
export interface SettleableParts {
  /** Read in each round: informers that are added during the wait count. Default: none. */
  readonly informers?: Iterable<Settleable>;
  /** Read in each round: queues that are added during the wait count. Default: none. */
  readonly queues?: Iterable<SettleableQueue>;
}

/** An informer, a work queue, an object that contains some, or a collection of these. */
export type SettledThing = Settleable | SettleableQueue | SettleableParts | Iterable<SettledThing>;

/** Options of `settled`. */
export interface SettledOptions {
  /** Ends the wait with ERR_KUBELOOM_NOT_SETTLED, which names the cause. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds without progress after which the wait ends with ERR_KUBELOOM_NOT_SETTLED. Default 10,000. A version
   * that an informer reaches is progress, and so is a new minimum of items in the queues. With progress the wait ends
   * after six times this: two controllers that undo each other's writes never settle.
   */
  readonly timeoutMs?: number;
}

const SETTLED_CHECKS: OptionChecks<SettledOptions> = { signal: aSignal, timeoutMs: number(1, Infinity) };
const TIMEOUT_MS = 10_000;
/** The longest wait, as a multiple of `timeoutMs`. */
const TIMEOUTS_MAX = 6;

/** The server behind an informer. A source sends the bookmarks and returns their version. */
type Server = EmbeddedApiServer | { sendBookmarks(): Promise<string> | string };

const LOOK_INTERVAL_MS = 1;
/**
 * Number of checks after which the bookmark is sent again: a watch that was just opening, or was behind, did not
 * receive it.
 */
const LOOKS_PER_BOOKMARK = 20;

/**
 * Resolves when all writes are delivered, handled and reconciled. Also waits for the start of an informer. Waits for a
 * failed item until the item succeeds or is given up, but not for an item that only requested another reconciliation
 * later (`requeueAfterMs`). Do not await it inside a handler or a reconciliation: it waits for that call and would
 * never resolve. @throws ERR_KUBELOOM_NOT_SETTLED when the signal is aborted, an informer stopped, or there was no
 * progress for `timeoutMs`; the cause is the last failure of a reconciliation
 */
export async function settled(...things: readonly (SettledThing | SettledOptions)[]): Promise<void> {
  const patience = new Patience(things.find(isOptions) ?? {});
  let before: ReadonlyMap<Server, string> = new Map();
  for (;;) {
    // Again in each round: a factory or a controller may contain more informers by now.
    const { informers, queues } = partsOf(things);
    const servers = new Map(informers.map((informer) => [informer, serverOf(informer)]));
    const targets = await bookmarks(servers.values());
    const unsettled = (): string[] => [
      ...informers.flatMap((informer) =>
        whatIsMissing(informer, targets.get(servers.get(informer) as Server)),
      ),
      ...queues.flatMap(whatIsQueued),
    ];
    // An equal version twice: there was no write between the two rounds.
    const isUnchanged = [...targets].every(([server, version]) => before.get(server) === version);
    if (isUnchanged && unsettled().length === 0) return;
    patience.look(unsettled(), informers, queues);
    for (let looks = 0; looks < LOOKS_PER_BOOKMARK && unsettled().length > 0; looks++) {
      patience.look(unsettled(), informers, queues);
      await new Promise((resolve) => realTimers.setTimeout(resolve, LOOK_INTERVAL_MS));
    }
    before = unsettled().length === 0 ? targets : new Map();
  }
}

/** Decides when a wait is given up. */
class Patience {
  readonly #signal: AbortSignal | undefined;
  readonly #timeoutMs: number;
  readonly #startMs: number = realClock.now();
  #progressMs: number = this.#startMs;
  #versions = '';
  #queuedMin = Infinity;

  constructor(options: SettledOptions) {
    checkOptions('options of settled', options, SETTLED_CHECKS);
    this.#signal = options.signal;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** @throws ERR_KUBELOOM_NOT_SETTLED */
  look(
    unsettled: readonly string[],
    informers: readonly Settleable[],
    queues: readonly SettleableQueue[],
  ): void {
    const now = realClock.now();
    const versions = informers.map((informer) => informer.lastSyncResourceVersion()).join();
    const queued = queues.reduce((sum, { length, inWork, retrying }) => sum + length + inWork + retrying, 0);
    if (versions !== this.#versions || queued < this.#queuedMin) this.#progressMs = now;
    this.#versions = versions;
    this.#queuedMin = Math.min(queued, this.#queuedMin);
    const isHopeless = unsettled.some((what) => what.endsWith('has stopped'));
    const limit = this.#timeoutMs;
    const isOver = now - this.#progressMs >= limit || now - this.#startMs >= limit * TIMEOUTS_MAX;
    if (!this.#signal?.aborted && !isHopeless && !isOver) return;
    const what = unsettled.length > 0 ? unsettled.join('; ') : 'the server never stops changing';
    const failure = queues.find(({ lastFailure }) => lastFailure)?.lastFailure;
    const why = failure ? `; reconciling ${messageOf(failure.key)} failed: ${messageOf(failure.error)}` : '';
    const cause = failure ? failure.error : this.#signal?.reason;
    const options = cause === undefined ? {} : { cause };
    throw new KubeloomError('ERR_KUBELOOM_NOT_SETTLED', `not settled: ${what}${why}`, options);
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
  const singles = (thing: SettledThing | SettledOptions): readonly (Settleable | SettleableQueue)[] => {
    if (isOptions(thing)) return [];
    if (Symbol.iterator in thing) return [...thing].flatMap(singles);
    if ('source' in thing || 'inWork' in thing) return [thing];
    return [...(thing.informers ?? []), ...(thing.queues ?? [])];
  };
  const single = things.flatMap(singles);
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
  // Read first, because the bookmarks carry at least this version.
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

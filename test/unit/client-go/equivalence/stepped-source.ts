/**
 * A server that performs the steps of a history. The step `replace` answers a list; a later one first ends the
 * watch with a 410, so that every client lists again. Changes and bookmarks are events of the watch. It sorts,
 * numbers and checks nothing, because histories contain cases that no real server sends.
 */
import type {
  KubeList,
  ListOptions,
  ListerWatcher,
  Watch,
  WatchEvent,
} from '../../../../src/kube/lister-watcher.ts';
import { FakeWatch } from '../../../../src/tools/apiserver/testing/fake-controller-source.ts';
import { objects } from '../queue/notation.ts';
import type { HistoryStep, TestObject } from '../queue/notation.ts';

export type Lists = 'pages' | 'streams';

/** The steps of a server: all but the resync, which is the client's own. */
export type ServerStep = Exclude<HistoryStep, readonly ['process'] | readonly ['resync']>;

type Answer = (items: readonly TestObject[], resourceVersion: string) => void;

const EVENT_TYPES = { add: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const;
const EXPIRED = { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' };

export class SteppedSource implements ListerWatcher<TestObject> {
  readonly isWatchListUnsupported: boolean;
  /** Version of the last step; '' before the first. */
  version = '';
  #asked: Answer | undefined;
  #watch: FakeWatch<TestObject> | undefined;
  readonly #turn: () => Promise<void>;

  /** @param turn lets other work run while this waits for a request */
  constructor(lists: Lists, turn: () => Promise<void>) {
    this.isWatchListUnsupported = lists === 'pages';
    this.#turn = turn;
  }

  /** Resolves when the server has performed the step, which waits for a client's request. */
  async perform(step: ServerStep): Promise<void> {
    const [verb, about] = step;
    if (verb === 'replace') {
      if (this.version !== '') await this.#expire();
      const answer = await this.#until(() => this.#asked);
      this.#asked = undefined;
      answer(objects(step[2]).map(wire), about);
    } else {
      const watch = await this.#until(() => this.#watch);
      if (verb === 'bookmark') watch.send(bookmark(about));
      else for (const object of objects(about)) watch.send({ type: EVENT_TYPES[verb], object: wire(object) });
    }
    this.version = verb === 'replace' || verb === 'bookmark' ? about : about.replace(/^.*@/, '');
  }

  list(): Promise<KubeList<TestObject>> {
    if (!this.isWatchListUnsupported) return Promise.reject(new Error('requests are streams, not pages'));
    return new Promise((resolve) => {
      this.#asked = (items, resourceVersion) =>
        resolve({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion }, items });
    });
  }

  watch({ sendInitialEvents, allowWatchBookmarks }: ListOptions): Promise<Watch<TestObject>> {
    const watch = new FakeWatch<TestObject>(0, () => {
      if (this.#watch === watch) this.#watch = undefined;
    });
    if (sendInitialEvents !== true) {
      this.#watch = watch;
      return Promise.resolve(watch);
    }
    this.#asked = (items, resourceVersion) => {
      for (const object of items) watch.send({ type: 'ADDED', object });
      watch.send(bookmark(resourceVersion, { 'k8s.io/initial-events-end': String(allowWatchBookmarks) }));
      this.#watch = watch;
    };
    return Promise.resolve(watch);
  }

  /** Sends bookmarks, for `settled`. */
  sendBookmarks(): string {
    this.#watch?.send(bookmark(this.version));
    return this.version;
  }

  async #expire(): Promise<void> {
    const watch = await this.#until(() => this.#watch);
    this.#watch = undefined;
    watch.send({ type: 'ERROR', object: EXPIRED });
    watch.end();
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (let found = look(); ; found = look()) {
      if (found !== undefined) return found;
      await this.#turn();
    }
  }
}

/** An object in the server's form: the pipeline needs kind, version and metadata. */
interface WireObject extends TestObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: TestObject['metadata'] & { readonly namespace: string; readonly uid: string };
}

function wire({ metadata }: TestObject): WireObject {
  const { name } = metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { ...metadata, namespace: 'default', uid: `uid-${name}` },
  };
}

function bookmark(
  resourceVersion: string,
  annotations: Readonly<Record<string, string>> = {},
): WatchEvent<TestObject> {
  return {
    type: 'BOOKMARK',
    object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion, annotations } },
  };
}

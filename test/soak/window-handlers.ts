/** The handlers of one window on one thread: they join at its begin, and leave at its end with what they have received. */
import type { Borrowed, HandlerRegistration, ResourceEventHandler } from '../../src/index.ts';
import { RecordingHandler } from '../../src/tools/loadtest/watch/recording-handler.ts';
import { KIND_NAMES } from './window-record.ts';
import type { HandlerRecord, KindName } from './window-record.ts';

/** The part of informers that both the main thread and other threads offer. */
export interface Followed {
  addEventHandler(handler: ResourceEventHandler<unknown>): HandlerRegistration;
  removeEventHandler(registration: HandlerRegistration): void;
  lastSyncResourceVersion(): string;
  getIndexer(): { list(): readonly Pick<Borrowed<unknown>, 'key' | 'resourceVersion'>[] };
}

interface Joined {
  readonly kind: KindName;
  readonly informer: Followed;
  readonly handler: RecordingHandler;
  readonly registration: HandlerRegistration;
}

/** A wait after each notification, of handlers that are slow. */
const SLOWNESS = { every: 1, waitMs: 15 };

export class WindowHandlers {
  readonly #joined: readonly Joined[];

  /** @param names one handler for each name and kind */
  constructor(informers: Readonly<Record<KindName, Followed>>, names: readonly string[]) {
    this.#joined = KIND_NAMES.flatMap((kind) =>
      names.map((name) => {
        const informer = informers[kind];
        const handler = new RecordingHandler(name);
        return { kind, informer, handler, registration: informer.addEventHandler(handler) };
      }),
    );
  }

  get handlers(): readonly RecordingHandler[] {
    return this.#joined.map(({ handler }) => handler);
  }

  /** Makes handlers with this name slow, or as fast as they can. */
  slow(name: string, isSlow: boolean): void {
    for (const { handler } of this.#joined)
      if (handler.name === name) handler.setSlowness(isSlow ? SLOWNESS : undefined);
  }

  /** Returns the number of versions and notifications that handlers have still to receive. */
  left(versions: Readonly<Record<KindName, number>>): number {
    const each = this.#joined.map(
      ({ kind, informer, registration }) =>
        Math.max(0, versions[kind] - Number(informer.lastSyncResourceVersion())) +
        registration.backlog.notifications,
    );
    return each.reduce((sum, left) => sum + left, 0);
  }

  leave(): Omit<HandlerRecord, 'isRelisted'>[] {
    return this.#joined.map(({ kind, informer, handler, registration }) => {
      informer.removeEventHandler(registration);
      const state = new Map(
        informer
          .getIndexer()
          .list()
          .map(({ key, resourceVersion }) => [key, Number(resourceVersion)] as const),
      );
      return { name: handler.name, kind, notifications: [...handler.history], state };
    });
  }
}

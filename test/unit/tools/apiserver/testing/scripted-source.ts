/** A ListerWatcher whose answers a test writes, with a record of its requests. */
import type { V1Pod } from '@kubernetes/client-node';
import type { KubeList, ListOptions, ListerWatcher, Watch, WatchEvent } from '../../../../../src/index.ts';
import { pod } from '../../../../kit/objects.ts';

export function podAt(name: string, resourceVersion: string): V1Pod {
  const made = pod(name);
  return { ...made, metadata: { ...made.metadata, resourceVersion } };
}

export function listOf(items: readonly V1Pod[], resourceVersion: string, next = ''): KubeList<V1Pod> {
  return { metadata: { resourceVersion, ...(next ? { continue: next } : {}) }, items };
}

/** A watch that sends what a generator yields, and then stays open. */
export function watchOf(
  events: () => AsyncGenerator<WatchEvent<V1Pod>>,
  onStop: () => void = () => {},
): Watch<V1Pod> {
  let wake = (): void => {};
  const stopped = new Promise<void>((resolve) => (wake = resolve));
  return {
    async *[Symbol.asyncIterator]() {
      yield* events();
      await stopped;
    },
    stop() {
      wake();
      onStop();
    },
  };
}

export async function* nothing(): AsyncGenerator<WatchEvent<V1Pod>> {}

export async function* oneAndThrow(
  event: WatchEvent<V1Pod>,
  thrown: Error,
): AsyncGenerator<WatchEvent<V1Pod>> {
  yield event;
  throw thrown;
}

/** Functions that answer as a test says, and record their arguments. */
export class Scripted implements ListerWatcher<V1Pod> {
  readonly isWatchListUnsupported = true;
  readonly lists: ListOptions[] = [];
  readonly watches: ListOptions[] = [];
  readonly #list: (options: ListOptions, signal: AbortSignal) => Promise<KubeList<V1Pod>> | KubeList<V1Pod>;
  readonly #watch: (options: ListOptions, signal: AbortSignal) => Promise<Watch<V1Pod>> | Watch<V1Pod>;

  constructor(
    list: (options: ListOptions, signal: AbortSignal) => Promise<KubeList<V1Pod>> | KubeList<V1Pod>,
    watch: (options: ListOptions, signal: AbortSignal) => Promise<Watch<V1Pod>> | Watch<V1Pod> = () =>
      watchOf(nothing),
  ) {
    this.#list = list;
    this.#watch = watch;
  }

  async list(options: ListOptions, signal: AbortSignal): Promise<KubeList<V1Pod>> {
    this.lists.push(options);
    return this.#list(options, signal);
  }

  async watch(options: ListOptions, signal: AbortSignal): Promise<Watch<V1Pod>> {
    this.watches.push(options);
    return this.#watch(options, signal);
  }
}

/**
 * Compares what a streaming list brought with a list at exactly that version, beside the watch. client-go's
 * detector ends the process when they differ; here it is an error for the reflector's rules, which answer it
 * with a list of the most recent state.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import type { KubeList, ListOptions } from '../kube/list-watch.ts';
import { isRecord, metadataAtHand } from '../kube/meta-shape.ts';

/** Between two attempts to list. */
export const CHECK_RETRY_MS = 1000;
/** As in the pipeline. Until then a copy of the whole list is kept. */
const CHECK_ATTEMPTS_MAX = 5;

export interface CheckEvents {
  /** Not called once the check was abandoned, nor when both are the same. */
  differs(error: KubeloomError): void;
  /** The check was given up. */
  unchecked(error: KubeloomError): void;
}

/** @returns undefined when the server does not have that version any more */
type ListExactly<T> = (options: ListOptions, signal: AbortSignal) => Promise<KubeList<T> | undefined>;

export class ConsistencyCheck<T> {
  readonly #list: ListExactly<T>;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #cancelRetry: () => void = () => undefined;

  constructor(list: ListExactly<T>, clock: Clock) {
    this.#list = list;
    this.#clock = clock;
  }

  /** @param streamed copies: what was handed on may have been transformed where it lies */
  start(streamed: readonly T[], resourceVersion: string, events: CheckEvents): void {
    if (resourceVersion === '' || resourceVersion === '0') return;
    void this.#attempt(1, streamed, resourceVersion, events);
  }

  abandon(): void {
    this.#controller.abort();
    this.#cancelRetry();
  }

  async #attempt(
    attempt: number,
    streamed: readonly T[],
    resourceVersion: string,
    events: CheckEvents,
  ): Promise<void> {
    const { signal } = this.#controller;
    let list: KubeList<T> | undefined;
    try {
      list = await this.#list({ resourceVersion, resourceVersionMatch: 'Exact' }, signal);
    } catch (cause) {
      if (signal.aborted) return;
      if (attempt === CHECK_ATTEMPTS_MAX) events.unchecked(unchecked(resourceVersion, cause));
      else this.#again(() => void this.#attempt(attempt + 1, streamed, resourceVersion, events));
      return;
    }
    if (signal.aborted) return;
    if (!list) events.unchecked(unchecked(resourceVersion, 'the server does not have that version any more'));
    else {
      const error = difference(streamed, list.items, resourceVersion);
      if (error) events.differs(error);
    }
  }

  #again(attempt: () => void): void {
    this.#cancelRetry = this.#clock.schedule(CHECK_RETRY_MS, attempt);
  }
}

function unchecked(resourceVersion: string, cause: unknown): KubeloomError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new KubeloomError(
    'ERR_KUBELOOM_CONSISTENCY_UNCHECKED',
    `the streaming list at version ${resourceVersion} could not be checked: ${why}`,
    { cause },
  );
}

/** Undefined when both have the same objects in the same states, in whatever order. */
export function difference(
  streamed: readonly unknown[],
  listed: readonly unknown[],
  resourceVersion: string,
): KubeloomError | undefined {
  const left = sortedByUid(streamed);
  const right = sortedByUid(listed);
  const at = left.findIndex((object, index) => !isSame(object, right[index]));
  if (at < 0 && left.length === right.length) return undefined;
  const first = at < 0 ? right[left.length] : left[at];
  return new KubeloomError(
    'ERR_KUBELOOM_INCONSISTENT_LIST',
    `the streaming list at resourceVersion ${resourceVersion} brought ${left.length} objects, a list at exactly ` +
      `that version ${right.length}; the first that differs is ${nameOf(first)}. ` +
      'This is a bug of the server or of a cache on the way; kubeloom lists the most recent state',
  );
}

/** Items of a list come without kind and apiVersion. */
function isSame(streamed: unknown, listed: unknown): boolean {
  if (!isRecord(streamed) || !isRecord(listed)) return isDeepStrictEqual(streamed, listed);
  const { kind, apiVersion } = streamed;
  return isDeepStrictEqual(
    { ...streamed },
    { ...(kind ? { kind } : {}), ...(apiVersion ? { apiVersion } : {}), ...listed },
  );
}

function sortedByUid(objects: readonly unknown[]): unknown[] {
  return objects.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey(object: unknown): string {
  const metadata = metadataAtHand(object);
  return JSON.stringify([metadata?.['uid'], metadata?.['namespace'], metadata?.['name']]);
}

function nameOf(object: unknown): string {
  const metadata = metadataAtHand(object);
  return [metadata?.['namespace'], metadata?.['name']].filter((part) => typeof part === 'string').join('/');
}

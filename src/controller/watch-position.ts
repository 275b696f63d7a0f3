/**
 * How far one watch has come. A watch from no particular version begins with made-up ADDED events in no
 * order: until the first event of another type their resourceVersions are held back.
 */
import { beginsWithSyntheticEvents } from '../reflector/queries.ts';
import type { Progress } from '../reflector/state.ts';
import type { Query } from '../threads/protocol.ts';

type Stage =
  /** Objects of a streaming list, whose end bookmark has not come. */
  'initial-events' | 'synthetic' | 'live';

export class WatchPosition {
  readonly #openedAt: number;
  #stage: Stage;
  #resourceVersion: string;
  #events = 0;

  constructor(query: Query, isStreamingList: boolean, openedAt: number) {
    this.#openedAt = openedAt;
    this.#resourceVersion = query['resourceVersion'] ?? '';
    if (isStreamingList) this.#stage = 'initial-events';
    else this.#stage = beginsWithSyntheticEvents(query) ? 'synthetic' : 'live';
  }

  get isInitial(): boolean {
    return this.#stage === 'initial-events';
  }

  /** An object was dealt with. @returns whether its version is how far the watch has come */
  moved(type: 'ADDED' | 'MODIFIED' | 'DELETED', resourceVersion: string): boolean {
    this.#events++;
    if (this.#stage === 'initial-events') return false;
    if (this.#stage === 'synthetic' && type === 'ADDED') return false;
    return this.#moveTo(resourceVersion);
  }

  bookmarked(resourceVersion: string): void {
    this.#events++;
    if (this.#stage !== 'initial-events') this.#moveTo(resourceVersion);
  }

  /** The streaming list is complete; what follows is the watch. */
  initialEventsEnd(resourceVersion: string): void {
    this.#events++;
    this.#moveTo(resourceVersion);
  }

  at(now: number): Progress {
    return {
      resourceVersion: this.#resourceVersion,
      events: this.#events,
      durationMs: now - this.#openedAt,
    };
  }

  #moveTo(resourceVersion: string): boolean {
    this.#stage = 'live';
    if (resourceVersion === '') return false;
    this.#resourceVersion = resourceVersion;
    return true;
  }
}

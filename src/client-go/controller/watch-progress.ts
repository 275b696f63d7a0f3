/**
 * Progress of one watch. A watch without a start version begins with synthetic ADDED events in no order: their
 * resourceVersions are held back until the first event of another type.
 */
import { beginsWithSyntheticEvents } from '../../reflector/rules/queries.ts';
import type { Progress } from '../../reflector/rules/state.ts';
import type { Query } from '../../shared/protocol.ts';

type Stage =
  /** Objects of a streaming list whose end bookmark has not arrived. */
  'initial-events' | 'synthetic' | 'live';

export class WatchProgress {
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

  /** Records that an object was processed. @returns whether its version is the new position of the watch */
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

  /** Records that the streaming list is complete; the events that follow are the watch. */
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

/** The state of `kubeloom top`, and how snapshots and keys change it. Pure. */
import type { StatsSnapshot } from '../../../metrics/index.ts';
import { TopHistory } from './top-history.ts';

export type TopSort = 'name' | 'objects' | 'events/s' | 'lag' | 'p99' | 'backlog' | 'relists' | 'errors';

export interface TopState {
  readonly title: string;
  readonly sort: TopSort;
  /** Number of informers scrolled out above the first shown. */
  readonly scrolled: number;
  readonly history: TopHistory;
  /** Reason why there are no newer figures. */
  readonly lost?: string;
}

export type TopInput =
  | { readonly type: 'snapshot'; readonly snapshot: StatsSnapshot }
  /** The program no longer answers. */
  | { readonly type: 'lost'; readonly reason: string }
  /** @param key name of a key, as in `node:readline` */
  | { readonly type: 'key'; readonly key: string };

/** Ctrl-C also quits. */
export const QUIT_KEY = 'q';

/** Columns by which the informers can be sorted, by key. */
export const SORT_KEYS: Readonly<Record<string, TopSort>> = {
  n: 'name',
  o: 'objects',
  e: 'events/s',
  l: 'lag',
  p: 'p99',
  b: 'backlog',
  r: 'relists',
  x: 'errors',
};

/** Rows by which the informers move, by key. */
export const SCROLL_KEYS: Readonly<Record<string, number>> = { up: -1, down: 1, pageup: -10, pagedown: 10 };

export function initialTop(title: string): TopState {
  return { title, sort: 'name', scrolled: 0, history: new TopHistory() };
}

export function stepTop({ lost, ...state }: TopState, input: TopInput): TopState {
  if (input.type === 'lost') return { ...state, lost: input.reason };
  if (input.type === 'snapshot') {
    // After an interruption the program may be a new process, whose counters begin again.
    const history = lost === undefined ? state.history : new TopHistory();
    return { ...state, history: history.add(input.snapshot) };
  }
  const sort = SORT_KEYS[input.key];
  const last = state.history.labels('kubeloom_informer_objects').length - 1;
  const scrolled = sort ? 0 : state.scrolled + (SCROLL_KEYS[input.key] ?? 0);
  return {
    ...state,
    ...(lost === undefined ? {} : { lost }),
    sort: sort ?? state.sort,
    scrolled: Math.max(0, Math.min(scrolled, last)),
  };
}

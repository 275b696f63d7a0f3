/** A rule as a test: a table of events and their effects. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { initialEventsEnd, opened, page, play, start } from './scripts.ts';
import type { SPEC, Scripted } from './scripts.ts';

export type Row = readonly [event: Scripted, effects: string];

export function table(title: string, spec: Partial<typeof SPEC>, rows: readonly Row[]): void {
  it(title, () => {
    const { lines } = play(
      spec,
      rows.map(([event]) => event),
    );
    assert.deepEqual(
      lines,
      rows.map(([, effects]) => effects),
    );
  });
}

/** The first list, and the watch after it. */
export const synced: readonly Row[] = [
  [start, 'list rv=0 limit=500'],
  [opened, 'begin 1'],
  [page('10'), 'end 1@10, watch rv=10'],
  [opened, ''],
];

export const AUTO = { watchList: 'auto' } as const;

/** The first streaming list, at version 20. */
export const streamed: readonly Row[] = [
  [start, 'watch streaming'],
  [opened, 'begin 1'],
  [initialEventsEnd('20'), 'end 1@20'],
];

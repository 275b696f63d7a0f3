/** Metrics: the oracle accepts scrapes that agree with the other records, and finds those that do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScrapeRecord } from './histories.ts';
import { judge } from './judge.ts';
import { scrapes, smallRun } from './small-run.ts';

/** Changes the samples of one metric in one scrape; without a value they are dropped. */
function changed(scrape: ScrapeRecord, metric: string, value: number | undefined): ScrapeRecord {
  const samples = scrape.samples.flatMap((sample) => {
    if (sample.metric !== metric) return [sample];
    return value === undefined ? [] : [{ ...sample, value }];
  });
  return { ...scrape, samples };
}

/** Asserts that the oracle finds a wrong sample of the scrape: 0 is after the list, 1 later, 2 at the end. */
function finds(at: number, metric: string, value: number | undefined, message: RegExp): void {
  const run = smallRun();
  const spoiled = scrapes(run).map((scrape, index) =>
    index === at ? changed(scrape, metric, value) : scrape,
  );
  const found = judge({ ...run, scrapes: spoiled });
  assert.ok(found.length > 0, `${metric} ${value} is found`);
  assert.deepEqual([...new Set(found.map(({ invariant }) => invariant))], ['I19']);
  const messages = found.map((violation) => violation.message);
  assert.match(messages.join('; '), message);
}

test('a correct run with scrapes has no violations', () => {
  const run = smallRun();
  assert.deepEqual(judge({ ...run, scrapes: scrapes(run) }), []);
});

test('I19: the oracle finds a cache whose metrics are not those of the server at its version', () => {
  finds(1, 'kubeloom_informer_objects', 5, /kubeloom_informer_objects of pods is 5 in place of 4/);
  finds(1, 'kubeloom_informer_objects', undefined, /is absent in place of 4/);
  finds(0, 'kubeloom_informer_synced', 0, /kubeloom_informer_synced of pods is 0 in place of 1/);
  finds(2, 'informer_store_resource_version', 11, /is 11 in place of 12/);
  finds(1, 'informer_queued_items', 1, /informer_queued_items of pods is 1 in place of 2/);
});

test('I19: the oracle finds calls of a handler that are not counted', () => {
  finds(2, 'kubeloom_handler_calls_total', 9, /handler_calls_total of pods, first is 9 in place of 10/);
  finds(1, 'kubeloom_handler_errors_total', 1, /handler_errors_total of pods, first is 1 in place of 0/);
  finds(1, 'kubeloom_handler_calls_total', undefined, /of pods, first is absent/);
});

test('I19: the oracle finds pending notifications that are not counted, and too many', () => {
  finds(
    1,
    'kubeloom_handler_pending',
    1,
    /first has 3 calls, 1 pending and 0 coalesced notifications, and 5 were due/,
  );
  finds(
    1,
    'kubeloom_handler_pending',
    1,
    /1 notifications of first are pending, and 2 of its objects are outdated/,
  );
  finds(1, 'kubeloom_handler_pending', 3, /3 pending and 0 coalesced notifications, and 5 were due/);
  finds(2, 'kubeloom_handler_pending', 1, /kubeloom_handler_pending of pods, first is 1 in place of 0/);
  finds(2, 'kubeloom_handler_pending_bytes', 1, /handler_pending_bytes of pods, first is 1 in place of 0/);
});

test('I19: the oracle finds records and errors that are counted wrongly', () => {
  finds(1, 'kubeloom_informer_records_total', 5, /grew by 4, and shards wrote 2 records/);
  finds(2, 'kubeloom_informer_records_total', 3, /grew by 2, and shards wrote 3 records/);
  finds(2, 'kubeloom_errors_total', 2, /kubeloom_errors_total grew by 2 EXPIRED, and 1 were reported/);
  finds(2, 'kubeloom_errors_total', undefined, /errors_total grew by 0 EXPIRED, and 1 were reported/);
});

test('I19: the oracle finds a counter that falls or ends', () => {
  finds(1, 'kubeloom_informer_records_total', 0, /informer_records_total of pods \{\} fell from 1 to 0/);
  finds(1, 'kubeloom_informer_records_total', undefined, /fell from 1 to nothing/);
});

test('I19: the oracle finds lists, watches and events that the server has not sent, and those that are missing', () => {
  finds(2, 'kubeloom_lists_total', 3, /kubeloom_lists_total grew by 2 complete lists, and the server sent 1/);
  finds(2, 'kubeloom_lists_total', 1, /kubeloom_lists_total grew by 0 complete lists, and the server sent 1/);
  finds(1, 'kubeloom_watches_started_total', 3, /of 3 watches 0 have ended/);
  finds(2, 'kubeloom_watches_ended_total', 0, /of 3 watches 0 have ended/);
  const events = 'kubeloom_watch_events_total';
  finds(1, events, 5, /kubeloom_watch_events_total grew by 2 ADDED, and the server sent 0 to 1/);
  finds(2, events, 1, /kubeloom_watch_events_total grew by 1 MODIFIED, and the server sent 2 to 2/);
});

/**
 * I19, the metrics: a scrape never disagrees with what the other histories had counted at that moment. Most figures are
 * exact at any moment. Work that a shard has done and the main thread has not merged yet may be missing until the run has
 * come to rest.
 */
import { drops } from '../histories.ts';
import type { AppliedRecord, DeliveredRecord, Histories, ScrapeRecord, WireRecord } from '../histories.ts';
import type { InformerView } from '../run-view.ts';
import { Scrape, differences } from '../scrape-view.ts';
import type { Labels } from '../scrape-view.ts';
import type { State, Truth } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkMetrics(histories: Histories, informers: readonly InformerView[]): Violation[] {
  const found: Violation[] = [];
  const counts = new Counts(histories);
  let first: Baseline | undefined;
  let previous: Scrape | undefined;
  for (const record of histories.scrapes) {
    counts.advance(record.before);
    const scrape = new Scrape(record);
    first ??= {
      scrape,
      merged: counts.merged,
      ignored: counts.ignored,
      reports: new Map(counts.reports),
    };
    const messages = [
      ...informers.flatMap((informer) => checkCache(informer, scrape)),
      ...Array.from(counts.handlers.values()).flatMap((handler) => {
        const informer = informers.find(({ name }) => name === handler.informer);
        return informer ? checkHandler(counts, informer, handler, scrape) : [];
      }),
      ...checkTotals(counts, scrape, first, histories.applied.length > 0),
      ...checkGrowth(counts, scrape, previous),
    ];
    found.push(...messages.map((message) => violation('I19', message, record.at)));
    previous = scrape;
  }
  return found;
}

/** Counters of informers may have begun before the histories: their growth since the first scrape is compared. */
interface Baseline {
  readonly scrape: Scrape;
  readonly merged: number;
  readonly ignored: number;
  readonly reports: ReadonlyMap<string, number>;
}

interface HandlerCounts {
  readonly handler: string;
  readonly informer: string;
  /** Version of the cache when the handler was registered; 0 before the first list. */
  readonly joinedAt: number;
  readonly mayRepeat: boolean;
  calls: number;
  failures: number;
  isRemoved: boolean;
  /** Versions that the handler has received and that were not deleted, by key. */
  readonly received: Map<string, number>;
}

/** The kinds of records that change a cache or confirm it. */
const MERGED: ReadonlySet<string> = new Set(['Added', 'Modified', 'Deleted', 'Replaced', 'Bookmark']);

/** Counts of the other histories up to a scrape. */
class Counts {
  readonly handlers: Map<string, HandlerCounts> = new Map();
  /** Informers whose handlers have received something that is not one event each: a relist, or an event twice. */
  readonly uneven: Set<string> = new Set();
  /** Version of the first list, by informer. */
  readonly listed: Map<string, number> = new Map();
  /** Records that shards have written and no death has dropped, by sequence. */
  readonly #written: Map<number, AppliedRecord> = new Map();
  readonly reports: Map<string, number> = new Map();
  readonly #histories: Histories;
  readonly #informers: Map<number, string> = new Map();
  #before: ScrapeRecord['before'] = { wire: 0, applied: 0, delivered: 0, reports: 0 };

  constructor(histories: Histories) {
    this.#histories = histories;
  }

  advance(before: ScrapeRecord['before']): void {
    const { wire, applied, restarts, delivered, reports } = this.#histories;
    const from = this.#before;
    for (const record of wire.slice(from.wire, before.wire)) this.#send(record);
    for (const record of delivered.slice(from.delivered, before.delivered)) this.#deliver(record);
    for (const record of applied.slice(from.applied, before.applied))
      this.#written.set(record.sequence, record);
    for (const restart of restarts) {
      if (restart.wire < from.wire || restart.wire > before.wire) continue;
      for (const [sequence, record] of this.#written)
        if (drops(restart, record)) this.#written.delete(sequence);
    }
    for (const { code } of reports.slice(from.reports, before.reports))
      this.reports.set(code, (this.reports.get(code) ?? 0) + 1);
    this.#before = before;
  }

  /** Number of records that change a cache or confirm it. */
  get merged(): number {
    return this.#count(({ kind }) => MERGED.has(kind));
  }

  /** Number of records of objects that shards ignored. */
  get ignored(): number {
    return this.#count(({ kind }) => kind === 'Nothing');
  }

  #count(isCounted: (record: AppliedRecord) => boolean): number {
    let count = 0;
    for (const record of this.#written.values()) if (isCounted(record)) count++;
    return count;
  }

  #send(record: WireRecord): void {
    if (record.what === 'request') this.#informers.set(record.connection, record.informer ?? '');
    const informer = this.#informers.get(record.connection) ?? '';
    if (record.what === 'sent' && record.fault !== undefined) this.uneven.add(informer);
    if (record.what !== 'listed') return;
    if (this.listed.has(informer)) this.uneven.add(informer);
    else this.listed.set(informer, record.revision);
  }

  #deliver(record: DeliveredRecord): void {
    if (record.kind === 'registered') {
      const { handler, informer, revision: joinedAt, mayRepeat = false, hasMetrics = true } = record;
      if (!hasMetrics) return;
      const none = { calls: 0, failures: 0, isRemoved: false };
      this.handlers.set(handler, { handler, informer, joinedAt, mayRepeat, ...none, received: new Map() });
      return;
    }
    const counts = this.handlers.get(record.handler);
    if (!counts) return;
    if ('key' in record) {
      counts.calls++;
      if (record.kind === 'delete') counts.received.delete(record.key);
      else counts.received.set(record.key, record.revision);
    } else if (record.kind === 'failed') {
      counts.failures++;
    } else if (record.kind === 'removed') {
      counts.isRemoved = true;
    }
  }
}

/** `informer_store_resource_version` has this many digits. */
const VERSION_MODULUS = 1e15;

function checkCache({ name, truth }: InformerView, scrape: Scrape): string[] {
  const revision = scrape.record.revisions[name];
  if (revision === undefined) return [];
  const objects = truth.state(truth.position(revision)).size;
  const expected = {
    kubeloom_informer_objects: objects,
    kubeloom_informer_synced: Number(revision > 0),
    ...(revision > 0 ? { informer_store_resource_version: revision % VERSION_MODULUS } : {}),
    informer_queued_items: scrape.sum('kubeloom_handler_pending', { informer: name }) ?? 0,
  };
  return differences(scrape, expected, { informer: name });
}

function checkHandler(counts: Counts, { truth }: InformerView, own: HandlerCounts, scrape: Scrape): string[] {
  const { informer, handler, calls, failures, received } = own;
  const of = { informer, handler };
  const isKnown = scrape.sum('kubeloom_handler_calls_total', of) !== undefined;
  // A removed handler has figures until its last call has returned.
  if (own.isRemoved && !isKnown) return [];
  const found = differences(
    scrape,
    { kubeloom_handler_calls_total: calls, kubeloom_handler_errors_total: failures },
    of,
  );
  const pending = scrape.sum('kubeloom_handler_pending', of);
  const coalesced = scrape.sum('kubeloom_handler_coalesced_total', of) ?? 0;
  const revision = scrape.record.revisions[informer];
  if (own.isRemoved || pending === undefined || revision === undefined) return found;
  const state = truth.state(truth.position(revision));
  const outdated = outdatedKeys(received, state);
  if (pending < outdated)
    found.push(
      `${pending} notifications of ${handler} are pending, and ${outdated} of its objects are outdated`,
    );
  const pushed = pushedTo(counts, own, truth, revision);
  if (pushed !== undefined && pushed !== calls + pending + coalesced) {
    const sum = `${calls} calls, ${pending} pending and ${coalesced} coalesced notifications`;
    found.push(`${handler} has ${sum}, and ${pushed} were due`);
  }
  if (!scrape.record.isFinal) return found;
  return [
    ...found,
    ...differences(scrape, { kubeloom_handler_pending: 0, kubeloom_handler_pending_bytes: 0 }, of),
  ];
}

/** Returns how many objects the handler has in another version than the cache. */
function outdatedKeys(received: ReadonlyMap<string, number>, state: State): number {
  const missing = [...state.values()].filter(({ key, revision }) => received.get(key) !== revision).length;
  return missing + [...received.keys()].filter((key) => !state.has(key)).length;
}

/** Returns the notifications for a handler so far; undefined when they are more than its initial list and one an event. */
function pushedTo(counts: Counts, own: HandlerCounts, truth: Truth, revision: number): number | undefined {
  const { informer, joinedAt, mayRepeat } = own;
  if (mayRepeat || counts.uneven.has(informer)) return undefined;
  if (revision === 0) return 0;
  const listed = counts.listed.get(informer);
  const begin = joinedAt > 0 ? joinedAt : listed;
  if (begin === undefined) return undefined;
  const position = truth.position(begin);
  return truth.state(position).size + truth.position(revision) - position;
}

function checkTotals(counts: Counts, scrape: Scrape, first: Baseline, hasApplied: boolean): string[] {
  const found: string[] = [];
  const growth = (metric: string, of: Labels = {}): number =>
    (scrape.sum(metric, of) ?? 0) - (first.scrape.sum(metric, of) ?? 0);
  const codes = new Set(scrape.samples('kubeloom_errors_total').map(({ labels }) => labels['code'] ?? ''));
  for (const code of new Set([...counts.reports.keys(), ...codes])) {
    const counted = growth('kubeloom_errors_total', { code });
    const reported = (counts.reports.get(code) ?? 0) - (first.reports.get(code) ?? 0);
    if (counted !== reported)
      found.push(`kubeloom_errors_total grew by ${counted} ${code}, and ${reported} were reported`);
  }
  if (!hasApplied) return found;
  const written = {
    kubeloom_informer_records_total: counts.merged - first.merged,
    kubeloom_ignored_events_total: counts.ignored - first.ignored,
  };
  for (const [metric, records] of Object.entries(written)) {
    const of: Labels = metric === 'kubeloom_ignored_events_total' ? { reason: 'old_version' } : {};
    const counted = growth(metric, of);
    if (scrape.record.isFinal ? counted !== records : counted > records)
      found.push(`${metric} grew by ${counted}, and shards wrote ${records} records`);
  }
  return found;
}

/** Checks that counters neither fall nor end, except those of removed handlers. */
function checkGrowth(counts: Counts, scrape: Scrape, previous: Scrape | undefined): string[] {
  const counters = previous?.record.samples.filter(({ metric }) => metric.endsWith('_total')) ?? [];
  return counters.flatMap(({ metric, informer, labels, value }) => {
    const now = scrape.sum(metric, { ...labels, informer });
    const isRemoved = counts.handlers.get(labels['handler'] ?? '')?.isRemoved === true;
    if ((now ?? Infinity) >= value && (now !== undefined || isRemoved)) return [];
    return [`${metric} of ${informer} ${JSON.stringify(labels)} fell from ${value} to ${now ?? 'nothing'}`];
  });
}

/**
 * I19 for lists, watches and events: a scrape never shows more of them than the server sent. At rest it shows all, except
 * those that a client had no reason to read or a dead reflector could not report.
 */
import type { Histories, WireRecord } from '../histories.ts';
import type { InformerView, JudgeOptions } from '../run-view.ts';
import { Scrape } from '../scrape-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkWireMetrics(
  histories: Histories,
  informers: readonly InformerView[],
  { mayLoseLists = false }: JudgeOptions,
): Violation[] {
  const [first] = histories.scrapes;
  if (!first) return [];
  const before = new Scrape(first);
  const hasEvents = histories.wire.some(({ what }) => what === 'sent');
  return informers.flatMap((informer) =>
    histories.scrapes.flatMap((record) => {
      const wire = histories.wire.slice(first.before.wire, record.before.wire);
      const own = wire.filter((each) => informer.connections.has(each.connection));
      const scrape = new Scrape(record);
      const growth = new Growth(scrape, before, informer.name);
      const isWhole = record.isFinal === true && !mayLoseLists;
      const found = checkWatches(scrape, informer.name);
      // Some runs add the server's requests at their end.
      if (own.length > 0) found.push(...checkRequests(growth, own, isWhole));
      if (hasEvents) found.push(...checkEvents(growth, own, connectionsOf(informer), isWhole));
      return found.map((message) => violation('I19', `${informer.name}: ${message}`, record.at));
    }),
  );
}

/** The growth of an informer's counters since the first scrape. */
class Growth {
  readonly #scrape: Scrape;
  readonly #before: Scrape;
  readonly #informer: string;

  constructor(scrape: Scrape, before: Scrape, informer: string) {
    this.#scrape = scrape;
    this.#before = before;
    this.#informer = informer;
  }

  of(metric: string, labels: Readonly<Record<string, string>> = {}): number {
    const of = { ...labels, informer: this.#informer };
    return (this.#scrape.sum(metric, of) ?? 0) - (this.#before.sum(metric, of) ?? 0);
  }
}

/** An informer has at most one watch. */
function checkWatches(scrape: Scrape, informer: string): string[] {
  const started = scrape.sum('kubeloom_watches_started_total', { informer }) ?? 0;
  const ended = scrape.sum('kubeloom_watches_ended_total', { informer }) ?? 0;
  if (ended === started || ended === started - 1) return [];
  return [`of ${started} watches ${ended} have ended`];
}

function checkRequests(growth: Growth, wire: readonly WireRecord[], isWhole: boolean): string[] {
  const listed = wire.filter(({ what }) => what === 'listed').length;
  const asked = wire.filter((record) => record.what === 'request' && record.isWatch).length;
  const lists = growth.of('kubeloom_lists_total', { result: 'ok' });
  const watches = growth.of('kubeloom_watches_started_total');
  const found: string[] = [];
  if (isWhole ? lists !== listed : lists > listed)
    found.push(`kubeloom_lists_total grew by ${lists} complete lists, and the server sent ${listed}`);
  if (watches > asked)
    found.push(`kubeloom_watches_started_total grew by ${watches}, and there were ${asked} requests`);
  return found;
}

type EventType = Extract<WireRecord, { readonly what: 'sent' }>['type'];

const TYPES: readonly EventType[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

interface Connections {
  readonly watches: ReadonlySet<number>;
  /** Closed by the client, which ignores the rest of what has arrived. */
  readonly cut: ReadonlySet<number>;
}

function connectionsOf({ wire }: InformerView): Connections {
  const watches = new Set<number>();
  const cut = new Set<number>();
  for (const record of wire) {
    if (record.what === 'request' && record.isWatch) watches.add(record.connection);
    if (record.what === 'closed' && record.why === 'closed by the client') cut.add(record.connection);
  }
  return { watches, cut };
}

function checkEvents(
  growth: Growth,
  wire: readonly WireRecord[],
  { watches, cut }: Connections,
  isWhole: boolean,
): string[] {
  return TYPES.flatMap((type) => {
    const sent = wire.filter((record) => isOf(type, record) && watches.has(record.connection));
    const whole = sent.filter(({ connection }) => !cut.has(connection)).length;
    const counted = growth.of('kubeloom_watch_events_total', { type: type.toLowerCase() });
    if (counted <= sent.length && (!isWhole || counted >= whole)) return [];
    const range = `${isWhole ? whole : 0} to ${sent.length}`;
    return [`kubeloom_watch_events_total grew by ${counted} ${type}, and the server sent ${range}`];
  });
}

/** The end of a streaming list is a bookmark. */
function isOf(type: EventType, record: WireRecord): boolean {
  return record.what === 'sent' ? record.type === type : record.what === 'listed' && type === 'BOOKMARK';
}

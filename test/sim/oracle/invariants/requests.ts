/**
 * An informer's requests, and the bookmarks that it receives. I13: a watch resumes from a version that the informer
 * received whole: of a list, an event or a bookmark, never of an initial object of a streaming list. I14: bookmarks only
 * grow, and are not behind earlier events. I15: the requests that an informer may make. I16: their rate.
 */
import type { WireRecord } from '../histories.ts';
import type { InformerView, JudgeOptions } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkRequests(informer: InformerView, options: JudgeOptions): Violation[] {
  return [
    ...checkPositions(informer),
    ...checkBookmarks(informer),
    ...checkQueries(informer, options),
    ...checkRate(informer, options),
  ];
}

function checkPositions({ name, wire }: InformerView): Violation[] {
  const found: Violation[] = [];
  // Not every server records what it sent.
  if (!wire.some(({ what }) => what === 'sent')) return [];
  const positions = new Set<string>(['', '0']);
  for (const record of wire) {
    if (record.what === 'listed') positions.add(String(record.revision));
    if (record.what === 'sent' && record.type !== 'ERROR' && record.isInitial !== true) {
      positions.add(String(record.revision));
    }
    if (record.what !== 'request') continue;
    const { resourceVersion = '' } = record.query;
    if (positions.has(resourceVersion)) continue;
    const verb = record.isWatch ? 'watches' : 'lists';
    found.push(
      violation('I13', `${name} ${verb} from ${resourceVersion}, which it never received`, record.at),
    );
  }
  return found;
}

function checkBookmarks({ name, wire }: InformerView): Violation[] {
  const found: Violation[] = [];
  const last = new Map<number, number>();
  for (const record of wire) {
    if (record.what !== 'sent' || record.type === 'ERROR' || record.isInitial || record.fault !== undefined)
      continue;
    const before = last.get(record.connection) ?? 0;
    if (record.type === 'BOOKMARK' && record.revision < before) {
      found.push(
        violation('I14', `${name} received a bookmark at ${record.revision} after ${before}`, record.at),
      );
    }
    last.set(record.connection, Math.max(before, record.revision));
  }
  return found;
}

function checkQueries({ name, scope, wire }: InformerView, { mayLoseLists }: JudgeOptions): Violation[] {
  const found: Violation[] = [];
  const complain = (request: WireRecord & { readonly what: 'request' }, why: string): void => {
    const query = new URLSearchParams(request.query).toString();
    found.push(violation('I15', `${name} requested ${request.method} ?${query}: ${why}`, request.at));
  };
  let hasListed = false;
  for (const record of wire) {
    if (record.what === 'listed') hasListed = mayLoseLists !== true;
    if (record.what !== 'request') continue;
    const { limit, resourceVersion = '', continue: token } = record.query;
    if (record.method !== 'GET') complain(record, 'an informer only reads');
    if (record.isWatch) continue;
    if (hasListed && resourceVersion === '0')
      complain(record, 'any version, although it has seen a later one');
    const isAtVersion = resourceVersion !== '' && resourceVersion !== '0' && token === undefined;
    const isExact = record.query['resourceVersionMatch'] === 'Exact';
    if (limit !== undefined && isAtVersion && !isExact && scope.pageSize === undefined)
      complain(record, 'pages of a list that is not older than a version');
    if (token !== undefined && resourceVersion !== '') complain(record, 'a version beside a continue token');
  }
  return found;
}

function checkRate({ name, wire }: InformerView, { requestsMax }: JudgeOptions): Violation[] {
  if (!requestsMax) return [];
  const times = wire.flatMap(({ what, at }) => (what === 'request' && at !== undefined ? [at] : []));
  const { count, windowMs } = requestsMax;
  const first = times.findIndex((at, index) => (times[index + count] ?? Infinity) - at < windowMs);
  if (first < 0) return [];
  return [violation('I16', `${name} made more than ${count} requests in ${windowMs} ms`, times[first])];
}

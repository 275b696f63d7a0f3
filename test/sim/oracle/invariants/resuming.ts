/**
 * I13: a watch resumes from a version that the informer received whole: of a list, an event or a bookmark, never of an
 * initial object of a streaming list. I14: bookmarks only grow, and are not behind earlier events.
 */
import type { WireRecord } from '../histories.ts';
import type { InformerView, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkResuming({ informers }: RunView): Violation[] {
  return informers.flatMap((informer) => [...checkPositions(informer), ...checkBookmarks(informer)]);
}

type Request = Extract<WireRecord, { readonly what: 'request' }>;

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
    if (record.what !== 'request' || positions.has(versionOf(record))) continue;
    const verb = record.isWatch ? 'watches' : 'lists';
    found.push(
      violation('I13', `${name} ${verb} from ${versionOf(record)}, which it never received`, record.at),
    );
  }
  return found;
}

function versionOf({ query }: Request): string {
  return query['resourceVersion'] ?? '';
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

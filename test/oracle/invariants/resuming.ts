/**
 * I13: a watch goes on from a version that the informer was sent whole: of a list, an event or a bookmark, never of an
 * object that a streaming list made up. I14: bookmarks only grow, and are not behind what was sent before them.
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
  // Not every server tells what it sent.
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
      violation('I13', `${name} ${verb} from ${versionOf(record)}, which it was never sent`, record.at),
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
        violation('I14', `${name} was sent a bookmark at ${record.revision} after ${before}`, record.at),
      );
    }
    last.set(record.connection, Math.max(before, record.revision));
  }
  return found;
}

/**
 * LIST: a snapshot in key order, in pages if the client requests pages. The bytes of the items already exist. This
 * module puts them between a header and a bracket, in writes of bounded size at the reader's pace.
 */

import type { Collection, LogView, Snapshot } from '../store/event-log.ts';
import type { JsonObject } from '../store/json.ts';
import { encodeContinue } from './list-options.ts';
import type { ListOptions } from './list-options.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';
import type { Selection } from './selection.ts';
import { expired, tooLargeResourceVersion } from '../store/status.ts';
import { withoutManagedFields } from '../store/stored-object.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { TABLE, columnDefinitions, tableRow } from '../tables/table.ts';
import type { Representation } from '../wire/http-io.ts';

export interface Page {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
  readonly continueToken: string | undefined;
  readonly remainingItemCount: number | undefined;
}

const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.';
const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

export async function readPage(
  log: LogView,
  collection: Collection,
  options: ListOptions,
  selection: Selection,
  freshnessTimeoutMs: number,
): Promise<Page> {
  const snapshot = await findSnapshot(log, collection, options, freshnessTimeoutMs);
  const start =
    options.continueFrom === undefined ? 0 : firstFrom(snapshot.objects, options.continueFrom.startKey);
  const limit = options.limit > 0 ? options.limit : Number.POSITIVE_INFINITY;

  const { revision } = snapshot;
  const objects: StoredObject[] = [];
  let rest = 0;
  for (let index = start; index < snapshot.objects.length; index++) {
    const object = snapshot.objects[index];
    if (object === undefined || !selection.matches(object)) continue;
    if (objects.length < limit) objects.push(object);
    else rest++;
    // Only a list without a selector reports the number of the remaining items.
    if (rest > 0 && !selection.everything) break;
  }
  if (rest === 0) return { revision, objects, continueToken: undefined, remainingItemCount: undefined };
  const continueToken = encodeContinue({ revision, startKey: `/${objects.at(-1)?.identity.key}\0` });
  return { revision, objects, continueToken, remainingItemCount: selection.everything ? rest : undefined };
}

/** Waits for a later revision of the log, for a limited time. */
export async function requireFresh(log: LogView, revision: number, timeoutMs: number): Promise<void> {
  if (await log.reached(revision, timeoutMs)) return;
  throw tooLargeResourceVersion(revision, log.revision);
}

async function findSnapshot(
  log: LogView,
  collection: Collection,
  options: ListOptions,
  freshnessTimeoutMs: number,
): Promise<Snapshot> {
  const { at, continueFrom } = options;
  const wanted = continueFrom?.revision ?? (at.kind === 'latest' ? 0 : at.revision);
  await requireFresh(log, wanted, freshnessTimeoutMs);
  const pinned = continueFrom === undefined ? at.kind === 'exact' : continueFrom.revision > 0;
  const snapshot = collection.snapshot(pinned ? wanted : log.revision, options.limit > 0);
  if (snapshot !== undefined) return snapshot;
  if (continueFrom === undefined) throw expired(LIST_TOO_OLD);
  throw expired(CONTINUE_TOO_OLD, encodeContinue({ revision: -1, startKey: continueFrom.startKey }));
}

/** `startKey` begins with a slash, like the keys of etcd. */
function firstFrom(objects: readonly StoredObject[], startKey: string): number {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (`/${objects[middle]?.identity.key ?? ''}` < startKey) low = middle + 1;
    else high = middle;
  }
  return low;
}

const WHOLE: Representation = { isPartial: false, dropsManagedFields: false };
const COMMA = Buffer.from(',');
const END = Buffer.from(']}\n');

/** The document, piece by piece. */
export function* listPieces(
  collection: Collection,
  page: Page,
  representation: Representation = WHOLE,
  moreMetadata: JsonObject = {},
): Generator<Buffer> {
  const { definition } = collection;
  const { isPartial, includeObject } = representation;
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
    ...moreMetadata,
  };
  const isTable = includeObject !== undefined;
  const head = isTable
    ? { ...TABLE, metadata, columnDefinitions: columnDefinitions(definition) }
    : isPartial
      ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata }
      : {
          kind: definition.listKind ?? `${definition.kind}List`,
          apiVersion: apiVersionOf(definition),
          metadata,
        };
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${isTable ? 'rows' : 'items'}":[`);
  let first = true;
  for (const object of page.objects) {
    if (!first) yield COMMA;
    first = false;
    yield* itemPieces(definition, object, representation);
  }
  yield END;
}

function itemPieces(
  definition: ServedResource,
  object: StoredObject,
  representation: Representation,
): readonly Buffer[] {
  if (representation.includeObject !== undefined) return [tableRow(definition, object, representation)];
  const pieces = representation.isPartial ? object.metadataOnly() : object.listItem(definition);
  return representation.dropsManagedFields ? [withoutManagedFields(pieces)] : pieces;
}

/** A page of a list, checked: a proxy before the apiserver, or another program at its address, may answer anything. */
import { KubeloomError } from '../../../base/errors.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import { isRecord } from '../../../kube/meta-shape.ts';
import { textAt, valueAt } from '../../../kube/wire-path.ts';

/** An object of a list, as far as it is checked. */
export interface ListedObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

export interface ListPage {
  readonly items: readonly ListedObject[];
  /** Token of the next page; empty after the last. */
  readonly next: string;
}

/** @throws ERR_KUBELOOM_MALFORMED_RESPONSE unless the answer is a list of objects with names; the errors of the request */
export async function listPage(client: ApiClient, path: string, signal: AbortSignal): Promise<ListPage> {
  const answer = await client.getJson(path, signal);
  // Go writes an empty list as null as well.
  const items = isRecord(answer) && !Array.isArray(answer) ? (answer['items'] ?? []) : undefined;
  if (Array.isArray(items) && items.every(isListed))
    return { items, next: textAt(answer, 'metadata.continue') };
  const message = `GET ${path.split('?', 1)[0]}: the answer is no list of objects; check that the address is that of an apiserver`;
  throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}

const MAPS = ['labels', 'annotations'] as const;

function isListed(item: unknown): item is ListedObject {
  const metadata = valueAt(item, 'metadata');
  const isMap = (value: unknown): boolean => value === undefined || isRecord(value);
  return isRecord(metadata) && textAt(metadata, 'name') !== '' && MAPS.every((name) => isMap(metadata[name]));
}

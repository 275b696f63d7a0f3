/** Lists as pages of a single snapshot of the collection: a request a page, sent when the reader asks for the page. */
import { KubeloomError } from '../../base/errors.ts';
import { PAGE_SIZE } from '../../http/queries.ts';
import { itemsOf } from '../../kube/meta.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { apiVersionOf, resourcePath } from '../../kube/resource.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { KubeStatusError } from '../../kube/status.ts';
import { withQuery } from './request-options.ts';
import type { ListOptions } from './request-options.ts';

/** A page of a list. */
export interface ListPage<T> {
  /** Group and version of the list, `apps/v1`; undefined if the server omits them. */
  readonly apiVersion?: string;
  /** Kind of the list, `DeploymentList`; undefined if the server omits it. */
  readonly kind?: string;
  /** State of the collection, and the position of the page in the list. */
  readonly metadata: {
    /** Version of the collection, the same in every page. */
    readonly resourceVersion?: string;
    /** Token of the next page; absent in the last page. */
    readonly continue?: string;
    /** Objects after this page, if the server knows. */
    readonly remainingItemCount?: number;
  };
  /** Objects with `apiVersion` and `kind`. */
  readonly items: readonly T[];
}

type Read = (path: string) => Promise<unknown>;

/** Yields the pages of a list. @throws ERR_KUBELOOM_GONE when the server dropped the state of the first page */
export async function* pagesOf<T>(
  resource: ResourceRef,
  options: ListOptions,
  read: Read,
): AsyncGenerator<ListPage<T>, void, undefined> {
  const { namespace, labelSelector, fieldSelector, limit = PAGE_SIZE, allowInconsistent } = options;
  const { resourceVersion, resourceVersionMatch } = options;
  const path = resourcePath(resource, namespace);
  const selection = { labelSelector, fieldSelector, limit };
  const first = withQuery(path, { ...selection, resourceVersion, resourceVersionMatch });
  let page = pageOf<T>(resource, path, await read(first));
  yield page;
  for (let token = page.metadata.continue ?? ''; token !== ''; token = page.metadata.continue ?? '') {
    const pathAt = (continued: string): string => withQuery(path, { ...selection, continue: continued });
    let body: unknown;
    try {
      body = await read(pathAt(token));
    } catch (error) {
      const fresh = error instanceof KubeStatusError ? error.continueToken : '';
      if (!allowInconsistent || fresh === '') throw error;
      body = await read(pathAt(fresh));
    }
    page = pageOf<T>(resource, path, body);
    if (page.metadata.continue === token) throw malformed(path, 'the server sends the same page again');
    yield page;
  }
}

function pageOf<T>(resource: ResourceRef, path: string, body: unknown): ListPage<T> {
  const items = itemsOf(body);
  const { apiVersion, kind, metadata = {} } = isRecord(body) ? body : {};
  if (!items || !isRecord(metadata)) throw malformed(path, 'the answer is no list');
  const index = items.findIndex((item) => !isRecord(item) || Array.isArray(item));
  if (index !== -1) throw malformed(path, `items[${index}] is no object`);
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return {
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
    ...(typeof kind === 'string' ? { kind } : {}),
    metadata,
    items: items.map((item) => ({ ...type, ...(item as object) }) as T),
  };
}

function malformed(path: string, what: string): KubeloomError {
  const message = `LIST ${path}: ${what}; is this a Kubernetes apiserver?`;
  return new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}

/** Reads and writes single objects of an apiserver, with the credentials, proxies and TLS of the informers. */
import { KubeloomError } from '../base/errors.ts';
import { oneOf, signal, text, integer, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { resourcePath } from '../kube/resource.ts';
import type { ResourceOf, ResourceRef } from '../kube/resource.ts';
import { outcomeOf } from '../kube/retry.ts';
import type { ServerSource } from '../kube/server-source.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { ObjectKey } from '../informer/map/kind-cache.ts';
import { ApiClient } from '../http/api-client.ts';
import type { SendRequest } from '../http/api-client.ts';
import { collectionOf, complete, metadataOf, pathOf, pathOfObject, checkPatch } from './object-arguments.ts';

export interface RequestOptions {
  /** Ends the wait for the answer; a write may have happened nevertheless. */
  readonly signal?: AbortSignal;
}

export interface DeleteOptions extends RequestOptions {
  /** The object is deleted only if it has this uid; else the call throws ERR_KUBELOOM_CONFLICT. */
  readonly uid?: string;
  /** The same for the version. */
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  /** Treatment of the objects that this one owns, by the garbage collector. Default: the server's for the resource. */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
}

const REQUEST_CHECKS: OptionChecks<RequestOptions> = { signal };
const DELETE_CHECKS: OptionChecks<DeleteOptions> = {
  signal,
  uid: text,
  resourceVersion: text,
  gracePeriodSeconds: integer(0),
  propagationPolicy: oneOf('Orphan', 'Background', 'Foreground'),
};

/** Receives the answer to a write: the object as stored; after a deletion, its last state or a Status. */
export type WriteListener = (resource: ResourceRef, answer: KubeObject) => void;

/** Receives the collection of a write that may have happened or not. */
type UnconfirmedListener = (resource: ResourceRef, namespace: string) => void;

/** The type of an object that is sent. The resource alone decides it: it is not inferred from the argument. */
export type Uninferred<T> = [T][T extends unknown ? 0 : never];

/**
 * A client for single objects. A request is sent once, and a second time with fresh credentials after 401; everything else
 * is up to the caller, who has a work queue for that.
 *
 * Every method throws a KubeStatusError when the server refuses (ERR_KUBELOOM_NOT_FOUND, ERR_KUBELOOM_CONFLICT,
 * ERR_KUBELOOM_ALREADY_EXISTS, ERR_KUBELOOM_INVALID, …), so that nothing was written; ERR_KUBELOOM_WRITE_UNCONFIRMED when a
 * write was sent and its answer is missing, or says that the server gave up waiting, so that it may have happened or not; the signal's reason after an abort; and
 * ERR_KUBELOOM_OPTION or ERR_KUBELOOM_KEY, before a request, for arguments that lead to no object.
 */
export class ObjectClient {
  readonly #source: ServerSource;
  #api: ApiClient;
  #onWritten: WriteListener | undefined;
  #onUnconfirmed: UnconfirmedListener | undefined;
  /** Signals of every write. */
  #signals: readonly AbortSignal[] = [];
  /** Whether writes need a precondition. */
  #isFenced = false;

  /** @throws ERR_KUBELOOM_OPTION when the source is neither a KubeConfig nor a connection */
  constructor(source: ServerSource) {
    this.#source = source;
    this.#api = new ApiClient(source);
  }

  /** Returns a client on the same connections that calls the listener with the answer to each of its writes. */
  observed(onWritten: WriteListener): ObjectClient;
  /** @internal */
  observed(onWritten: WriteListener, onUnconfirmed?: UnconfirmedListener): ObjectClient;
  observed(onWritten: WriteListener, onUnconfirmed?: UnconfirmedListener): ObjectClient {
    const observed = this.#sibling();
    observed.#onWritten = onWritten;
    observed.#onUnconfirmed = onUnconfirmed;
    return observed;
  }

  /** @internal Returns a client on the same connections without a fence and without listeners. */
  plain(): ObjectClient {
    const plain = new ObjectClient(this.#source);
    plain.#api = this.#api;
    return plain;
  }

  /** @internal Returns the server's present version of a collection. */
  async versionOf(resource: ResourceRef, namespace: string, signal: AbortSignal): Promise<string> {
    const path = `${resourcePath(resource, namespace)}?limit=1`;
    return metadataOf(await this.#api.send({ method: 'GET', path, signals: [signal] })).resourceVersion ?? '';
  }

  /**
   * Returns a client on the same connections for the owner of a partition or lease. It sends no write after the signal was aborted: the
   * signal is asked when the bytes of a write are about to be sent, and again when they are repeated. And it sends no write
   * without a precondition: a `resourceVersion` that was read, in the metadata of an update or patch or in the options of a
   * deletion. A write that is on its way when a successor begins is then a conflict if the successor has changed the object. A
   * `create` has no precondition but the name.
   *
   * Its writes throw the signal's reason, or ERR_KUBELOOM_OPTION without a precondition.
   */
  fenced(signal: AbortSignal): ObjectClient {
    const fenced = this.until(signal);
    fenced.#isFenced = true;
    return fenced;
  }

  /** @internal Returns a client on the same connections that sends no write after the signal was aborted. */
  until(signal: AbortSignal): ObjectClient {
    const until = this.#sibling();
    until.#signals = [...this.#signals, signal];
    return until;
  }

  /** Reads an object from the server, past every cache. */
  async get<T = KubeObject>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    options: RequestOptions = {},
  ): Promise<T> {
    return this.#send<T>(resource, { method: 'GET', path: pathOf(resource, key) }, options);
  }

  /** Creates an object; it has a name, or `generateName`. Returns it as the server has stored it. */
  async create<T = KubeObject>(
    resource: ResourceOf<T>,
    object: Uninferred<T>,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = collectionOf(resource, object);
    return this.#send<T>(resource, { method: 'POST', path, body: complete(resource, object) }, options);
  }

  /**
   * Replaces an object, its status excepted when the resource has that subresource. With the `resourceVersion` that was
   * read, another writer's change in between is a conflict; without one it is overwritten.
   */
  async update<T = KubeObject>(
    resource: ResourceOf<T>,
    object: Uninferred<T>,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = pathOfObject(resource, object);
    return this.#send<T>(resource, { method: 'PUT', path, body: complete(resource, object) }, options);
  }

  /** Replaces the status of an object, and nothing else. */
  async updateStatus<T = KubeObject>(
    resource: ResourceOf<T>,
    object: Uninferred<T>,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = `${pathOfObject(resource, object)}/status`;
    return this.#send<T>(resource, { method: 'PUT', path, body: complete(resource, object) }, options);
  }

  /**
   * Changes an object by a merge patch: members are replaced, null removes one. With `metadata.resourceVersion` in the
   * patch, another writer's change in between is a conflict.
   */
  async patch<T = KubeObject>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    patch: object,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = pathOf(resource, key);
    return this.#send<T>(resource, { method: 'PATCH', path, body: checkPatch(resource, patch) }, options);
  }

  /** Changes the status of an object by a merge patch, which has the status as its member `status`. */
  async patchStatus<T = KubeObject>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    patch: object,
    options: RequestOptions = {},
  ): Promise<T> {
    const path = `${pathOf(resource, key)}/status`;
    return this.#send<T>(resource, { method: 'PATCH', path, body: checkPatch(resource, patch) }, options);
  }

  /** Deletes an object. It is gone when its grace period is over and its finalizers are removed. */
  async delete<T>(resource: ResourceOf<T>, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    checkOptions('options of a deletion', options, DELETE_CHECKS);
    const { signal: given, uid, resourceVersion, ...how } = options;
    const preconditions = { uid, resourceVersion };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...how, preconditions };
    const request = { method: 'DELETE', path: pathOf(resource, key), body } as const;
    await this.#send(resource, request, given ? { signal: given } : {});
  }

  async #send<T>(resource: ResourceRef, request: SendRequest, options: RequestOptions): Promise<T> {
    checkOptions('options of a request', options, REQUEST_CHECKS);
    const own = request.method === 'GET' ? [] : this.#signals;
    for (const each of own) each.throwIfAborted();
    if (this.#isFenced) checkPrecondition(resource, request);
    const signals = options.signal ? [...own, options.signal] : own;
    try {
      const answer = await this.#api.send({ ...request, signals });
      if (request.method !== 'GET') this.#onWritten?.(resource, answer as KubeObject);
      return answer as T;
    } catch (error) {
      // A signal may have been aborted before or after the write was sent.
      const isOpen = outcomeOf(error) === 'unconfirmed' || options.signal?.aborted;
      if (request.method !== 'GET' && isOpen) this.#onUnconfirmed?.(resource, namespaceIn(request.path));
      throw error;
    }
  }

  #sibling(): ObjectClient {
    const sibling = new ObjectClient(this.#source);
    sibling.#api = this.#api;
    sibling.#onWritten = this.#onWritten;
    sibling.#onUnconfirmed = this.#onUnconfirmed;
    sibling.#signals = this.#signals;
    sibling.#isFenced = this.#isFenced;
    return sibling;
  }
}

/** Refuses a write that would overwrite a successor's. A version of 0 is none to a server: it updates unconditionally. */
function checkPrecondition({ resource }: ResourceRef, { method, body, path }: SendRequest): void {
  if (method === 'GET' || method === 'POST') return;
  const isDeletion = method === 'DELETE';
  const { resourceVersion = '' }: Preconditions = isDeletion ? Object(body).preconditions : metadataOf(body);
  if (resourceVersion !== '' && resourceVersion !== '0') return;
  const missing = isDeletion ? 'the option resourceVersion' : 'metadata.resourceVersion';
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `a ${method} of ${resource} (${path}) has no precondition: the owner of a partition or lease writes with ${missing} of the object that it has read`,
  );
}

/** Returns the namespace in the path of a request; '' without one. */
function namespaceIn(path: string): string {
  return decodeURIComponent(/\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '');
}

interface Preconditions {
  readonly resourceVersion?: string;
}

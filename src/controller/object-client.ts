/** Reads and writes objects of an apiserver, with the credentials, proxies and TLS of the informers. */
import { KubeloomError } from '../base/errors.ts';
import { checkOptions } from '../base/option-checks.ts';
import type { ResourceOf, ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { ObjectKey } from '../informer/map/kind-cache.ts';
import type { Mutable } from '../index.ts';
import {
  checkedCollection,
  collectionOf,
  complete,
  metadataOf,
  partsOfKey,
  pathOf,
  pathOfObject,
} from './object-arguments.ts';
import { applying } from './requests/applied.ts';
import { createOrUpdate } from './requests/create-or-update.ts';
import type { CreatedOrUpdated } from './requests/create-or-update.ts';
import { pagesOf } from './requests/list-pages.ts';
import type { ListPage } from './requests/list-pages.ts';
import { APPLY_MEDIA_TYPE, PATCH_MEDIA_TYPES, checkedPatch } from './requests/patches.ts';
import type { PatchOf, PatchType } from './requests/patches.ts';
import {
  APPLY_CHECKS,
  CLIENT_CHECKS,
  DELETE_CHECKS,
  DELETE_COLLECTION_CHECKS,
  GET_CHECKS,
  LIST_CHECKS,
  OBJECT_WRITE_CHECKS,
  PATCH_CHECKS,
  WRITE_CHECKS,
  deletionBody,
  isDryRun,
  withQuery,
  writeParameters,
} from './requests/request-options.ts';
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectClientOptions,
  ObjectWriteOptions,
  PatchOptions,
  WriteOptions,
} from './requests/request-options.ts';
import { RequestSender } from './requests/request-sender.ts';
import type { UnconfirmedListener, WriteListener, WriteRequest } from './requests/request-sender.ts';
import type { ApplyConfiguration, Sent, SubresourceOf } from './requests/sent.ts';

/** A write without the options. */
type Write = Pick<WriteRequest, 'method' | 'path' | 'body' | 'contentType' | 'stored'>;

/**
 * A client for objects. A write is sent once, and a second time with fresh credentials after 401; all other repetitions
 * are up to the caller, whose work queue repeats the key. A read is repeated after 429 and 503 with Retry-After and
 * after a broken connection.
 *
 * Every method throws a KubeStatusError when the server refuses, without a write (ERR_KUBELOOM_NOT_FOUND,
 * ERR_KUBELOOM_CONFLICT, ERR_KUBELOOM_ALREADY_EXISTS, ERR_KUBELOOM_INVALID, …); ERR_KUBELOOM_WRITE_UNCONFIRMED when the
 * answer to a write is missing, or says that the server gave up waiting, so that the write may or may not have
 * happened; the signal's reason after an abort; and ERR_KUBELOOM_OPTION or ERR_KUBELOOM_KEY, before a request, for
 * arguments that do not name an object.
 */
export class ObjectClient {
  readonly #sender: RequestSender;
  readonly #options: ObjectClientOptions;

  /** @throws ERR_KUBELOOM_OPTION when the source is neither a KubeConfig nor a connection, and for wrong options */
  constructor(source: ServerSource, options?: ObjectClientOptions);
  /** @internal */
  constructor(source: ServerSource | RequestSender, options?: ObjectClientOptions);
  constructor(source: ServerSource | RequestSender, options: ObjectClientOptions = {}) {
    checkOptions('options of a client', options, CLIENT_CHECKS);
    this.#sender = source instanceof RequestSender ? source : RequestSender.on(source, options);
    this.#options = options;
  }

  /**
   * Returns a client on the same connections that calls the listener with the answer to each write, except dry runs.
   */
  observed(onWritten: WriteListener): ObjectClient;
  /** @internal */
  observed(onWritten: WriteListener, onUnconfirmed?: UnconfirmedListener): ObjectClient;
  observed(onWritten: WriteListener, onUnconfirmed?: UnconfirmedListener): ObjectClient {
    return this.#on(this.#sender.with({ onWritten, onUnconfirmed }));
  }

  /** @internal Returns a client on the same connections without a fence and without listeners. */
  plain(): ObjectClient {
    return this.#on(this.#sender.plain());
  }

  /** @internal Returns the server's present version of a collection. */
  async versionOf(resource: ResourceRef, namespace: string, signal: AbortSignal): Promise<string> {
    const path = withQuery(checkedCollection(resource, namespace), { limit: 1 });
    return metadataOf(await this.#sender.readOnce(path, signal)).resourceVersion ?? '';
  }

  /**
   * Returns a client on the same connections for the owner of a partition or lease. It sends no write after the signal
   * is aborted: the client checks the signal just before it sends the bytes of a write, and again before it repeats
   * them. It also sends no write without a precondition, a `resourceVersion` that was read: in the metadata of an
   * update, patch or apply, in a `test` of a JSON patch, or in the options of a deletion or eviction. So a write that
   * is still on the way when a successor begins is a conflict if the successor changed the object. The only
   * precondition of a `create` is the name.
   *
   * The writes throw the signal's reason, or ERR_KUBELOOM_OPTION if the precondition is missing.
   */
  fenced(signal: AbortSignal): ObjectClient {
    return this.#on(this.#sender.until(signal).with({ isFenced: true }));
  }

  /** Returns a client on the same connections that sends no write after the signal is aborted, as `fenced`, but needs no precondition. */
  until(signal: AbortSignal): ObjectClient {
    return this.#on(this.#sender.until(signal));
  }

  /** Reads an object, or a subresource of it, from the server, past every cache. */
  async get<T = KubeObject, S extends string = ''>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    options: GetOptions<S> = {},
  ): Promise<SubresourceOf<T, S>> {
    checkOptions('options of a get', options, GET_CHECKS);
    const { signal, subresource, resourceVersion } = options;
    const path = withQuery(pathOf(resource, key, subresource), { resourceVersion });
    return (await this.#sender.read(path, signal)) as SubresourceOf<T, S>;
  }

  /**
   * Iterates the pages of a list: a snapshot of the collection, requested page by page as you read it.
   *
   * @throws ERR_KUBELOOM_OPTION at once; the iteration throws ERR_KUBELOOM_GONE when the server dropped the snapshot
   */
  list<T = KubeObject>(
    resource: ResourceOf<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ListPage<T>, void, undefined> {
    checkOptions('options of a list', options, LIST_CHECKS);
    checkedCollection(resource, options.namespace);
    if (options.resourceVersionMatch !== undefined && !options.resourceVersion)
      throw wrong('resourceVersionMatch needs a resourceVersion: pass both, or neither');
    return pagesOf<T>(resource, options, (path) => this.#sender.read(path, options.signal));
  }

  /**
   * Creates an object with a name or `generateName`. Returns the object as stored. With the subresource `eviction`,
   * `binding` or `token` the object is of that type, with the metadata of the pod or service account.
   */
  async create<T = KubeObject, S extends string = ''>(
    resource: ResourceOf<T>,
    object: Sent<SubresourceOf<T, S>>,
    options: ObjectWriteOptions<S> = {},
  ): Promise<SubresourceOf<T, S>> {
    checkOptions('options of a create', options, OBJECT_WRITE_CHECKS);
    const { subresource } = options;
    const path =
      subresource === undefined
        ? collectionOf(resource, object)
        : pathOfObject(resource, object, subresource);
    const body = complete(resource, object, subresource);
    return this.#write(resource, { method: 'POST', path, body }, options);
  }

  /**
   * Replaces an object, except the status if that is a subresource. If the object contains the `resourceVersion` that
   * was read, another writer's change in between is a conflict; otherwise the update overwrites that change.
   *
   * @throws ERR_KUBELOOM_INEXACT_INTEGER when the update would change an integer beyond 2^53, which JavaScript read
   *   inexactly
   */
  async update<T = KubeObject, S extends string = ''>(
    resource: ResourceOf<T>,
    object: Sent<SubresourceOf<T, S>>,
    options: ObjectWriteOptions<S> = {},
  ): Promise<SubresourceOf<T, S>> {
    checkOptions('options of an update', options, OBJECT_WRITE_CHECKS);
    const { subresource } = options;
    const path = pathOfObject(resource, object, subresource);
    const body = complete(resource, object, subresource);
    return this.#write(resource, { method: 'PUT', path, stored: path, body }, options);
  }

  /** Replaces only the status of an object. */
  async updateStatus<T = KubeObject>(
    resource: ResourceOf<T>,
    object: Sent<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    checkOptions('options of an update', options, WRITE_CHECKS);
    return (await this.update(resource, object, { ...options, subresource: 'status' })) as T;
  }

  /**
   * Changes an object by a patch, by default a merge patch: members are replaced, null removes a member. If the patch
   * contains `metadata.resourceVersion`, or a JSON patch tests it, another writer's change in between is a conflict.
   */
  async patch<T = KubeObject, K extends PatchType = 'merge', S extends string = ''>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    patch: PatchOf<SubresourceOf<T, S>, K>,
    options: PatchOptions<K, S> = {},
  ): Promise<SubresourceOf<T, S>> {
    checkOptions('options of a patch', options, PATCH_CHECKS);
    const { type = 'merge', subresource } = options;
    const path = pathOf(resource, key, subresource);
    const body = checkedPatch(resource, patch, type);
    return this.#write(
      resource,
      { method: 'PATCH', path, stored: path, body, contentType: PATCH_MEDIA_TYPES[type] },
      options,
    );
  }

  /** Changes the status of an object by a merge patch whose member `status` contains the changes. */
  async patchStatus<T = KubeObject>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    patch: PatchOf<T, 'merge'>,
    options: WriteOptions = {},
  ): Promise<T> {
    checkOptions('options of a patch', options, WRITE_CHECKS);
    return (await this.patch(resource, key, patch, { ...options, subresource: 'status' })) as T;
  }

  /**
   * Creates or changes an object by server-side apply: the field manager owns the fields of the object, and the server
   * removes a field that the manager's last apply contained and this apply omits. Needs a `fieldManager`, here or in
   * the options of the client.
   *
   * @throws ERR_KUBELOOM_APPLY_CONFLICT when another manager owns a field with a different value; the error's
   *   `conflicts` name field and manager, and `force` takes the fields over
   */
  async apply<T = KubeObject, S extends string = ''>(
    resource: ResourceOf<T>,
    object: ApplyConfiguration<SubresourceOf<T, S>>,
    options: ApplyOptions<S> = {},
  ): Promise<SubresourceOf<T, S>> {
    checkOptions('options of an apply', options, APPLY_CHECKS);
    const { subresource, force, fieldManager = this.#options.fieldManager } = options;
    const path = pathOfObject(resource, object, subresource);
    const body = complete(resource, object, subresource);
    if (fieldManager === undefined) {
      const advice = 'pass it here, or once in the options of the client: a constant name of your program';
      throw wrong(`an apply needs a fieldManager: ${advice}`);
    }
    if (metadataOf(body).managedFields !== undefined)
      throw wrong(
        'an applied object has no metadata.managedFields: pass only the fields that your program decides',
      );
    const write = { method: 'PATCH', path, stored: path, body, contentType: APPLY_MEDIA_TYPE } as const;
    const note = applying(body, fieldManager, subresource);
    const answer = await this.#write<object>(resource, write, options, { force });
    if (!isDryRun(options)) note(answer);
    return answer as SubresourceOf<T, S>;
  }

  /**
   * Reads an object, lets `mutate` change it, and writes it only if it differs; creates a missing object. `mutate` may
   * be called again if the caller repeats the call after a conflict (`retryOnConflict`).
   *
   * @param mutate changes the object in place, except name and namespace
   */
  createOrUpdate<T = KubeObject>(
    resource: ResourceOf<T>,
    key: ObjectKey,
    mutate: (object: Mutable<T>) => unknown,
    options: WriteOptions = {},
  ): Promise<CreatedOrUpdated<T>> {
    const { signal } = options ?? {};
    return createOrUpdate(resource, () => partsOfKey(resource, key), mutate, {
      check: () => checkOptions('options of createOrUpdate', options, WRITE_CHECKS),
      get: () => this.get<object>(resource as ResourceRef, key, signal ? { signal } : {}),
      create: (object) => this.create<object>(resource as ResourceRef, object, options),
      update: (object) => this.update<object>(resource as ResourceRef, object, options),
    });
  }

  /** Deletes an object. The server removes it after the grace period, when all finalizers are removed. */
  async delete<T>(resource: ResourceOf<T>, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    checkOptions('options of a deletion', options, DELETE_CHECKS);
    const { uid, resourceVersion, signal } = options;
    const body = deletionBody(options, { uid, resourceVersion });
    const request = { method: 'DELETE', path: pathOf(resource, key), body } as const;
    await this.#sender.write(resource, { ...request, isDryRun: isDryRun(options) }, signal);
  }

  /**
   * Deletes the objects of a collection that the selectors select; without selectors, all objects. The server removes
   * each object after the grace period, when all finalizers are removed. There is no shard selector. A fenced client
   * refuses the call, which cannot carry a precondition.
   */
  async deleteCollection<T>(resource: ResourceOf<T>, options: DeleteCollectionOptions = {}): Promise<void> {
    checkOptions('options of a deletion', options, DELETE_COLLECTION_CHECKS);
    const { namespace, labelSelector, fieldSelector, signal } = options;
    const collection = checkedCollection(resource, namespace);
    if (resource.isNamespaced && !namespace)
      throw wrong(
        `a deletion of ${resource.resource} needs a namespace: delete in one namespace after another`,
      );
    const path = withQuery(collection, { labelSelector, fieldSelector });
    const request = { method: 'DELETE', path, body: deletionBody(options) } as const;
    await this.#sender.write(resource, { ...request, isDryRun: isDryRun(options) }, signal);
  }

  async #write<R>(
    resource: ResourceRef,
    write: Write,
    options: WriteOptions,
    parameters: { readonly force?: boolean | undefined } = {},
  ): Promise<R> {
    const query = { ...writeParameters(options, this.#options.fieldManager), ...parameters };
    const request = { ...write, path: withQuery(write.path, query), isDryRun: isDryRun(options) };
    return (await this.#sender.write(resource, request, options.signal)) as R;
  }

  #on(sender: RequestSender): ObjectClient {
    return new ObjectClient(sender, this.#options);
  }
}

function wrong(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_OPTION', message);
}

/** controller-runtime's CreateOrUpdate: reads an object, lets a function change it, and writes only a difference. */
import { KubeloomError } from '../../base/errors.ts';
import { isEqualJson } from '../../base/json-equal.ts';
import { jsonText } from '../../base/json-text.ts';
import { invalidOption } from '../../base/option-checks.ts';
import { parseJson } from '../../base/parse-json.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ResourceOf } from '../../kube/resource.ts';
import type { Mutable } from '../../index.ts';
import { metadataOf } from '../object-arguments.ts';

/** The outcome of `createOrUpdate`, with the object as stored. */
export interface CreatedOrUpdated<T> {
  /** `unchanged`: `mutate` made no difference, and no write was sent. */
  readonly result: 'created' | 'updated' | 'unchanged';
  /** The server's answer; for `unchanged`, the object as it was read. */
  readonly object: T;
}

/** The requests of `createOrUpdate`. */
interface Requests {
  /** Throws ERR_KUBELOOM_OPTION for wrong options. */
  check(): void;
  get(): Promise<object>;
  create(object: object): Promise<unknown>;
  update(object: object): Promise<unknown>;
}

export async function createOrUpdate<T>(
  resource: ResourceOf<T>,
  /** Returns namespace and name of the object. @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_KEY */
  parts: () => { readonly namespace: string; readonly name: string },
  mutate: (object: Mutable<T>) => unknown,
  requests: Requests,
): Promise<CreatedOrUpdated<T>> {
  const { namespace, name } = parts();
  requests.check();
  if (typeof mutate !== 'function') invalidOption('mutate', mutate, 'a function that changes the object');
  const before = await requests.get().catch(absentIfNotFound);
  const metadata = resource.isNamespaced ? { name, namespace } : { name };
  const fresh = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
  const object = before === undefined ? fresh : (parseJson(jsonText(before)) as object);
  await mutate(object as Mutable<T>);
  const { name: nameNow = '', namespace: namespaceNow = '' } = metadataOf(object);
  if (nameNow !== name || (resource.isNamespaced && namespaceNow !== namespace)) {
    const message = `mutate changed the name or namespace of ${resource.resource} ${namespace}/${name}: change other fields`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  if (before === undefined) return { result: 'created', object: (await requests.create(object)) as T };
  if (isEqualJson(before, object)) return { result: 'unchanged', object: before as T };
  return { result: 'updated', object: (await requests.update(object)) as T };
}

function absentIfNotFound(error: unknown): undefined {
  if (error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NOT_FOUND') return undefined;
  throw error;
}

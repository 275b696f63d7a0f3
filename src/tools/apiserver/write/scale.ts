/** The subresource `/scale`: a view of the replicas of an object, which autoscalers and `kubectl scale` write. */

import { isJsonObject, memberOf, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { bareFailure, internalError, invalid, quote } from '../store/status.ts';

/** The kind of the bodies. */
export const SCALES: ServedResource = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'scales',
  kind: 'Scale',
  namespaced: true,
  columns: [
    { name: 'Name', type: 'string' },
    { name: 'Desired', type: 'integer' },
    { name: 'Available', type: 'integer' },
    { name: 'Age', type: 'string' },
  ],
};

/** @throws StatusError if the object has no replicas */
export function scaleOf({ scale, custom }: ServedResource, object: KubeObject): KubeObject {
  const { replicas: path = [], statusReplicas = [], selector = [] } = scale ?? {};
  const replicas = at(object, path);
  if (replicas === undefined && custom === true) {
    throw internalError(`the spec replicas field ${quote(`.${path.join('.')}`)} cannot be empty`);
  }
  const {
    name = '',
    namespace = '',
    uid = '',
    resourceVersion = '',
    creationTimestamp = '',
  } = object.metadata;
  const text = selectorText(at(object, selector));
  return {
    kind: SCALES.kind,
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === undefined ? {} : { replicas },
    status: { replicas: at(object, statusReplicas) ?? 0, ...(text === '' ? {} : { selector: text }) },
  };
}

/** Returns the object with the replicas of the scale. @throws StatusError for an invalid number of replicas */
export function withScale(
  { scale, custom }: ServedResource,
  object: KubeObject,
  given: KubeObject,
): KubeObject {
  const { resourceVersion, uid, name = '' } = given.metadata;
  const replicas = (isJsonObject(given['spec']) ? given['spec']['replicas'] : undefined) ?? 0;
  if (typeof replicas !== 'number' || replicas < 0) {
    const why = custom === true ? 'should be a non-negative integer' : 'must be greater than or equal to 0';
    const body = `Invalid value: ${writeJson(replicas)}: ${why}`;
    throw invalid(SCALES, name, [{ type: 'FieldValueInvalid', field: 'spec.replicas', body }]);
  }
  const metadata = {
    ...object.metadata,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  };
  return withValue({ ...object, metadata }, scale?.replicas ?? [], replicas) as KubeObject;
}

/** Returns the configuration of the object that corresponds to a configuration of the scale. @throws StatusError 500 */
export function scaledConfiguration({ scale, custom }: ServedResource, given: KubeObject): KubeObject {
  const { name = '', namespace = '', resourceVersion } = given.metadata;
  if (custom === true) {
    const why = 'request to convert CR to an invalid group/version: autoscaling/v1';
    throw bareFailure(
      `failed to convert new object (${namespace}/${name}; autoscaling/v1, Kind=Scale) to proper version: ${why}`,
    );
  }
  const metadata = resourceVersion === undefined ? { name } : { name, resourceVersion };
  const replicas = isJsonObject(given['spec']) ? (given['spec']['replicas'] ?? 0) : 0;
  return withValue({ metadata }, scale?.replicas ?? [], replicas) as KubeObject;
}

function withValue(object: JsonObject, [name = '', ...rest]: readonly string[], value: Json): JsonObject {
  const inside = memberOf(object, name);
  if (rest.length === 0) return { ...object, [name]: value };
  return { ...object, [name]: withValue(isJsonObject(inside) ? inside : {}, rest, value) };
}

function at(object: JsonObject, path: readonly string[]): Json | undefined {
  if (path.length === 0) return undefined;
  return path.reduce<Json | undefined>(memberOf, object);
}

/** Writes a label selector as text: `app=web,tier in (a,b)`. Text is returned unchanged. */
function selectorText(selector: Json | undefined): string {
  if (typeof selector === 'string') return selector;
  if (!isJsonObject(selector)) return '';
  const { matchLabels, matchExpressions } = selector;
  // The selector of a replication controller is a plain map.
  const isMap = matchLabels === undefined && matchExpressions === undefined;
  const labels = isMap ? selector : isJsonObject(matchLabels) ? matchLabels : {};
  const parts = Object.entries(labels).map(([label, value]) => `${label}=${textOf(value)}`);
  const expressions = Array.isArray(matchExpressions) ? matchExpressions : [];
  return [...parts.toSorted(), ...expressions.filter((each) => isJsonObject(each)).map(expressionText)].join(
    ',',
  );
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = Array.isArray(values) ? values.map(textOf).toSorted().join(',') : '';
  switch (operator) {
    case 'Exists':
      return textOf(key);
    case 'DoesNotExist':
      return `!${textOf(key)}`;
    default:
      return `${textOf(key)} ${operator === 'In' ? 'in' : 'notin'} (${list})`;
  }
}

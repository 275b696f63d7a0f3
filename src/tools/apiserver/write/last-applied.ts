/**
 * The annotation in which kubectl stores the last configuration of a client-side apply. When kubectl continues with server-side apply,
 * the server gives kubectl the fields that the annotation lists, and keeps the annotation up to date.
 */

import { NO_FIELDS } from '../fields/field-set.ts';
import type { FieldSet } from '../fields/field-set.ts';
import { compare, fieldsOf, typeErrors } from '../fields/merge.ts';
import type { FieldType } from '../fields/schema-types.ts';
import { isJsonObject, writeJson } from '../store/json.ts';
import type { KubeObject } from '../store/json.ts';
import { readJson } from '../store/read-json.ts';
import { sortKeys } from '../store/stored-object.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** The manager of `kubectl apply --server-side`; another name of the manager leaves the annotation alone. */
const KUBECTL = 'kubectl';

/** Returns the fields of the annotation that the live object has unchanged: kubectl may take them without a conflict. */
export function lastAppliedFields(live: KubeObject, type: FieldType, manager: string): FieldSet {
  const text = live.metadata.annotations?.[ANNOTATION] ?? '';
  const config = manager === KUBECTL && text !== '' ? readJson(text) : undefined;
  if (!isJsonObject(config) || config['apiVersion'] !== live.apiVersion) return NO_FIELDS;
  if (typeErrors(config, type).length > 0) return NO_FIELDS;
  const { modified, added, removed } = compare(config, live, type);
  return fieldsOf(config, type).difference(modified).difference(added).difference(removed);
}

/** Returns the object with the configuration in the annotation, if kubectl applied it and the object has the annotation. */
export function withLastApplied(object: KubeObject, config: KubeObject, manager: string): KubeObject {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || (annotations?.[ANNOTATION] ?? '') === '') return object;
  const { annotations: given, ...metadata } = config.metadata;
  const { [ANNOTATION]: _, ...others } = given ?? {};
  const shown = {
    ...config,
    metadata: given === undefined ? metadata : { ...metadata, annotations: others },
  };
  const text = `${writeJson(sortKeys(shown))}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [ANNOTATION]: text } } };
}

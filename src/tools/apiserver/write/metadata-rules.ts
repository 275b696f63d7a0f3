/**
 * The rules for metadata: names, labels, annotations, owner references and finalizers, in the words of apimachinery. Pure
 * functions that return every broken rule.
 */

import type { FieldError } from '../store/field-error.ts';
import { writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject, ObjectMeta } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { keyRules, labelErrors, labelRules, subdomainRules, tooLong } from '../store/name-rules.ts';
import { qualifiedName, quote } from '../store/status.ts';

/** A CronJob appends eleven characters to the names of the Jobs. */
const CRON_JOB_LENGTH_MAX = 52;
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/** Built-in kinds whose names are a single label of a host name. */
const LABEL_NAMES: ReadonlySet<string> = new Set(['namespaces', 'services', 'statefulsets.apps']);
/** Names of RBAC objects may contain colons: they only have to fit into a URL. */
const PATH_SEGMENT_GROUP = 'rbac.authorization.k8s.io';
/** The built-in group that takes any finalizer. */
const ANY_FINALIZER_GROUP = 'coordination.k8s.io';
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Returns the broken rules of the metadata that a write would store. */
export function metadataErrors(
  definition: ServedResource,
  object: KubeObject,
  previous: KubeObject | undefined,
): FieldError[] {
  const { metadata } = object;
  return [
    ...(previous === undefined ? nameErrors(definition, metadata) : []),
    ...((metadata.generation ?? 0) < 0
      ? [invalidAt('generation', metadata.generation, 'must be greater than or equal to 0')]
      : []),
    ...labelErrors(metadata.labels ?? {}, 'metadata.labels'),
    ...annotationErrors(metadata),
    ...ownerErrors(metadata),
    ...finalizerErrors(definition, metadata, previous?.metadata),
  ];
}

function invalidAt(field: string, value: Json | undefined, why: string): FieldError {
  return {
    type: 'FieldValueInvalid',
    field: `metadata.${field}`,
    body: `Invalid value: ${writeJson(value)}: ${why}`,
  };
}

function nameErrors(definition: ServedResource, { name = '', generateName = '' }: ObjectMeta): FieldError[] {
  const brokenRules = namingOf(definition);
  return [
    // A suffix follows the prefix, so the prefix may end in a dash.
    ...(generateName === '' ? [] : brokenRules(masked(generateName))).map((why) =>
      invalidAt('generateName', generateName, why),
    ),
    ...brokenRules(name).map((why) => invalidAt('name', name, why)),
    ...(qualifiedName(definition) === 'cronjobs.batch' && name.length > CRON_JOB_LENGTH_MAX
      ? [invalidAt('name', name, tooLong(CRON_JOB_LENGTH_MAX))]
      : []),
  ];
}

function masked(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
}

function namingOf(definition: ServedResource): (name: string) => string[] {
  if (definition.group === PATH_SEGMENT_GROUP) return pathSegmentRules;
  const isOneLabel = definition.custom !== true && LABEL_NAMES.has(qualifiedName(definition));
  return isOneLabel ? labelRules : subdomainRules;
}

function pathSegmentRules(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((each) => `may not contain '${each}'`);
}

function annotationErrors({ annotations = {} }: ObjectMeta): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) =>
    keyRules(key.toLowerCase()).map((why) => invalidAt('annotations', key, why)),
  );
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (bytes <= ANNOTATIONS_BYTES_MAX) return errors;
  const body = `Too long: may not be more than ${ANNOTATIONS_BYTES_MAX} bytes`;
  return [...errors, { type: 'FieldValueTooLong', field: 'metadata.annotations', body }];
}

const OWNER_TEXTS = ['apiVersion', 'kind', 'name', 'uid'];
const OWNER_ORDER = [...OWNER_TEXTS, 'controller', 'blockOwnerDeletion'];

/** Returns a field of the body of a request, which the client may have omitted. */
function textField(owner: JsonObject, field: string): string {
  const value = owner[field];
  return typeof value === 'string' ? value : '';
}

function inGoOrder(owner: JsonObject): JsonObject {
  const present = OWNER_ORDER.filter((field) => owner[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, owner[field]]));
}

function ownerErrors({ ownerReferences = [] }: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of ownerReferences) {
    const [apiVersion = '', kind = '', name = '', uid = ''] = OWNER_TEXTS.map((field) =>
      textField(owner, field),
    );
    const version = apiVersion.split('/');
    if (version.length > 2 || version.at(-1) === '')
      errors.push(invalidAt('ownerReferences.apiVersion', apiVersion, 'version must not be empty'));
    for (const [field, value] of Object.entries({ kind, name, uid }))
      if (value === '') errors.push(invalidAt(`ownerReferences.${field}`, value, 'must not be empty'));
    if (apiVersion === 'v1' && kind === 'Event') {
      const why = '/v1, Kind=Event is disallowed from being an owner';
      errors.push(invalidAt('ownerReferences', inGoOrder(owner), why));
    }
    if (owner.controller !== true) continue;
    if (controller === '') controller = `${kind}/${name}`;
    else {
      const found = `Found "true" in references for ${controller} and ${kind}/${name}`;
      const why = `Only one reference can have Controller set to true. ${found}`;
      errors.push(invalidAt('ownerReferences', ownerReferences.map(inGoOrder), why));
    }
  }
  return errors;
}

function finalizerErrors(
  definition: ServedResource,
  { finalizers = [] }: ObjectMeta,
  previous: ObjectMeta | undefined,
): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    keyRules(name).map((why) => invalidAt('finalizers', name, why)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(
      invalidAt('finalizers', finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'),
    );
  }
  if (definition.custom !== true && definition.group !== ANY_FINALIZER_GROUP) {
    for (const [index, name] of finalizers.entries()) {
      if (name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
      const why = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(invalidAt(`finalizers[${index}]`, name, why));
    }
  }
  const { deletionTimestamp, finalizers: before = [] } = previous ?? {};
  const added = finalizers.filter((name) => !before.includes(name));
  if (deletionTimestamp !== undefined && added.length > 0) {
    const found = `found new finalizers []string{${added.toSorted().map(quote).join(', ')}}`;
    const why = `no new finalizers can be added if the object is being deleted, ${found}`;
    errors.push({ type: 'FieldValueForbidden', field: 'metadata.finalizers', body: `Forbidden: ${why}` });
  }
  return errors;
}

/** Returns the warnings about finalizers that a custom resource accepts. */
export function finalizerWarnings({ custom }: ServedResource, { finalizers = [] }: ObjectMeta): string[] {
  if (custom !== true) return [];
  const why =
    'prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers';
  return finalizers
    .filter((name) => !name.includes('/') && !STANDARD_FINALIZERS.has(name))
    .map((name) => `metadata.finalizers: ${quote(name)}: ${why}`);
}

/** Fields that an update may omit but not change. */
const IMMUTABLE = ['deletionTimestamp', 'deletionGracePeriodSeconds'];

/** Returns the fields that the body of an update may not change. */
export function immutableErrors(given: ObjectMeta, previous: ObjectMeta): FieldError[] {
  return IMMUTABLE.filter((field) => given[field] !== undefined && given[field] !== previous[field]).map(
    (field) => invalidAt(field, given[field], 'field is immutable'),
  );
}

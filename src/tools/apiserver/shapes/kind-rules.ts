/**
 * Rules of built-in kinds that their shapes do not say, a row a kind: defaults, and the values that a cluster refuses. Kinds
 * without a row have no rules across their fields (docs/embedded-apiserver.md).
 */

import { isDeepStrictEqual } from 'node:util';
import { invalidValue, members, objects, required, text, unsupported } from '../store/causes.ts';
import type { FieldError } from '../store/field-error.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { AUTOSCALERS } from './autoscaler-versions.ts';
import type { KindRules } from './built-in-schema.ts';

const DATA_KEY = /^[-._a-zA-Z0-9]+$/;
const DATA_KEY_LENGTH_MAX = 253;
const DATA_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const DATA_BYTES_MAX = 1024 * 1024;

function keyErrors(field: string, data: JsonObject): FieldError[] {
  return Object.keys(data).flatMap((key) => {
    const why =
      key.length > DATA_KEY_LENGTH_MAX
        ? `must be no more than ${DATA_KEY_LENGTH_MAX} characters`
        : key === '.' || key === '..'
          ? `must not be '${key}'`
          : key.startsWith('..')
            ? "must not start with '..'"
            : DATA_KEY_RULE;
    const isValid = why === DATA_KEY_RULE && DATA_KEY.test(key);
    return isValid ? [] : [invalidValue(`${field}[${key}]`, key, why)];
  });
}

function sizeErrors(field: string, bytes: number): FieldError[] {
  if (bytes <= DATA_BYTES_MAX) return [];
  return [
    { type: 'FieldValueTooLong', field, body: `Too long: may not be more than ${DATA_BYTES_MAX} bytes` },
  ];
}

function bytesIn(data: JsonObject, encoding: BufferEncoding): number {
  return Object.values(data).reduce<number>(
    (sum, value) => sum + Buffer.byteLength(text(value), encoding),
    0,
  );
}

/** Returns errors for changes of an object that forbids them. */
function frozenErrors(
  object: KubeObject,
  previous: KubeObject | undefined,
  fields: readonly string[],
): FieldError[] {
  if (previous?.['immutable'] !== true) return [];
  const changed = fields.filter((field) => !isDeepStrictEqual(object[field], previous[field]));
  return [...(object['immutable'] === true ? [] : ['immutable']), ...changed].map((field) => ({
    type: 'FieldValueForbidden',
    field,
    body: 'Forbidden: field is immutable when `immutable` is set',
  }));
}

const CONFIG_MAP: KindRules = {
  validate(object, previous) {
    const [data, binary] = [members(object['data']), members(object['binaryData'])];
    const twice = Object.keys(data).filter((key) => Object.hasOwn(binary, key));
    return [
      ...frozenErrors(object, previous, ['data', 'binaryData']),
      ...keyErrors('data', data),
      ...twice.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...keyErrors('binaryData', binary),
      ...sizeErrors('[]', bytesIn(data, 'utf8') + bytesIn(binary, 'base64')),
    ];
  },
};

/** Keys that the data of a type of Secret must contain. */
const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
};
const TOKEN_OF = 'kubernetes.io/service-account.name';

function typeErrors({ metadata, ...object }: KubeObject): FieldError[] {
  const data = members(object['data']);
  const type = text(object['type']);
  if (type === 'kubernetes.io/service-account-token' && (metadata.annotations?.[TOKEN_OF] ?? '') === '')
    return [required(`metadata.annotations[${TOKEN_OF}]`)];
  const login = ['username', 'password'];
  if (type === 'kubernetes.io/basic-auth' && login.every((key) => data[key] === undefined))
    return login.map((key) => required(`data[${key}]`));
  const wanted = SECRET_KEYS[type] ?? [];
  const isEmpty = (key: string): boolean => type === 'kubernetes.io/ssh-auth' && data[key] === '';
  return wanted
    .filter((key) => data[key] === undefined || isEmpty(key))
    .map((key) => required(`data[${key}]`));
}

const SECRET: KindRules = {
  coerce({ stringData, ...object }) {
    const given = Object.entries(members(stringData)).map(([key, value]): [string, Json] => [
      key,
      Buffer.from(text(value)).toString('base64'),
    ]);
    if (given.length === 0) return object;
    return { ...object, data: { ...members(object['data']), ...Object.fromEntries(given) } };
  },
  validate(object, previous) {
    const data = members(object['data']);
    return [
      ...frozenErrors(object, previous, ['data']),
      ...keyErrors('data', data),
      ...sizeErrors('data', bytesIn(data, 'base64')),
      ...typeErrors(object),
    ];
  },
};

function ruleErrors(object: KubeObject, isNamespaced: boolean): FieldError[] {
  return objects(object['rules']).flatMap((rule, index) => {
    const count = (name: string): number => Object.keys(Object(rule[name] ?? [])).length;
    const field = `rules[${index}]`;
    const urls = `${field}.nonResourceURLs`;
    if (count('nonResourceURLs') > 0) {
      const isMixed = count('apiGroups') + count('resources') + count('resourceNames') > 0;
      const refused = [
        ...(isNamespaced ? ['namespaced rules cannot apply to non-resource URLs'] : []),
        ...(isMixed ? ['rules cannot apply to both regular resources and non-resource URLs'] : []),
      ];
      return refused.map((why) => invalidValue(urls, rule['nonResourceURLs'], why));
    }
    return [
      ...(count('apiGroups') > 0
        ? []
        : [required(`${field}.apiGroups`, 'resource rules must supply at least one api group')]),
      ...(count('resources') > 0
        ? []
        : [required(`${field}.resources`, 'resource rules must supply at least one resource')]),
    ];
  });
}

const RBAC = 'rbac.authorization.k8s.io';

function subjectErrors(subject: JsonObject, field: string, isNamespaced: boolean): FieldError[] {
  const [kind, apiGroup] = [text(subject['kind']), text(subject['apiGroup'])];
  const isAccount = kind === 'ServiceAccount';
  const group = isAccount ? '' : RBAC;
  const isKnown = isAccount || kind === 'User' || kind === 'Group';
  const isLocal = isAccount && !isNamespaced && text(subject['namespace']) === '';
  return [
    ...(isKnown && apiGroup !== group ? [unsupported(`${field}.apiGroup`, apiGroup, [group])] : []),
    ...(isLocal ? [required(`${field}.namespace`)] : []),
  ];
}

function binding(kinds: readonly string[], isNamespaced: boolean): KindRules {
  return {
    validate(object, previous) {
      const role = members(object['roleRef']);
      const kind = text(role['kind']);
      return [
        ...(kinds.includes(kind) ? [] : [unsupported('roleRef.kind', kind, kinds)]),
        ...objects(object['subjects']).flatMap((subject, index) =>
          subjectErrors(subject, `subjects[${index}]`, isNamespaced),
        ),
        ...(previous === undefined || isDeepStrictEqual(role, previous['roleRef'])
          ? []
          : [invalidValue('roleRef', role, 'cannot change roleRef')]),
      ];
    },
  };
}

/** True for a value, not for the null of a Go client. */
function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

/** @param about name of the field that refers to the object of the event */
function placeErrors(object: KubeObject, about: string): FieldError[] {
  const own = object.metadata.namespace ?? '';
  const of = text(members(object[about])['namespace']);
  const isDated = isSet(object['eventTime']);
  const isFree = of === '' && (own === 'default' || (isDated && own === 'kube-system'));
  if (isFree || (isDated ? of !== '' : of === own)) return [];
  return [invalidValue('involvedObject.namespace', of, 'does not match event.namespace')];
}

const EVENT_TEXT_MAX = 128;
const NOTE_LENGTH_MAX = 1024;

/** @param names names of the fields in the version of the group */
function datedEventErrors(
  object: KubeObject,
  names: Readonly<Record<'controller' | 'note', string>>,
): FieldError[] {
  if (!isSet(object['eventTime'])) return [];
  const missing = [names.controller, 'reportingInstance', 'action', 'reason'].filter(
    (field) => text(object[field]) === '',
  );
  const limits = { reportingInstance: EVENT_TEXT_MAX, action: EVENT_TEXT_MAX, reason: EVENT_TEXT_MAX };
  const long = Object.entries({ ...limits, [names.note]: NOTE_LENGTH_MAX })
    .filter(([field, limit]) => Buffer.byteLength(text(object[field])) > limit)
    .map(([field, limit]) =>
      invalidValue(field === 'note' ? 'message' : field, '', `can have at most ${limit} characters`),
    );
  return [...missing.map((field) => required(field)), ...long];
}

/** Names of the fields of an event in the group events.k8s.io, and in the core group, which stores the event. */
const EVENT_NAMES: readonly (readonly [inEvents: string, inCore: string])[] = [
  ['note', 'message'],
  ['regarding', 'involvedObject'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

/** Returns the event of either group with the given names. */
function renamed(object: KubeObject, names: Readonly<Record<string, string>>): KubeObject {
  const entries = Object.entries(object).map(([name, value]) => [names[name] ?? name, value] as const);
  return { ...Object.fromEntries(entries), metadata: object.metadata };
}

const IN_CORE = Object.fromEntries(EVENT_NAMES);
const IN_EVENTS = Object.fromEntries(EVENT_NAMES.map(([inEvents, inCore]) => [inCore, inEvents]));

const EVENT: KindRules = {
  coerce: (object) => renamed(object, IN_CORE),
  validate: (object) => [
    ...placeErrors(object, 'involvedObject'),
    ...datedEventErrors(object, { controller: 'reportingComponent', note: 'message' }),
  ],
};

const NEW_EVENT: KindRules = {
  coerce: (object) => renamed(object, IN_EVENTS),
  validate(object, previous) {
    const type = text(object['type']);
    const isKnown = previous !== undefined || type === 'Normal' || type === 'Warning';
    return [
      ...placeErrors(object, 'regarding'),
      ...datedEventErrors(object, { controller: 'reportingController', note: 'note' }),
      ...(isKnown ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ];
  },
};

/** Rules by the resource and its group. */
export const KIND_RULES: ReadonlyMap<string, KindRules> = new Map<string, KindRules>([
  ...AUTOSCALERS.map(
    ([version, rules]) => [`horizontalpodautoscalers.autoscaling/${version}`, rules] as const,
  ),
  ['configmaps', CONFIG_MAP],
  ['secrets', SECRET],
  ['events', EVENT],
  ['events.events.k8s.io', NEW_EVENT],
  [`roles.${RBAC}`, { validate: (object) => ruleErrors(object, true) }],
  [`clusterroles.${RBAC}`, { validate: (object) => ruleErrors(object, false) }],
  [`rolebindings.${RBAC}`, binding(['Role', 'ClusterRole'], true)],
  [`clusterrolebindings.${RBAC}`, binding(['ClusterRole'], false)],
]);

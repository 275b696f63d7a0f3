/** DeleteOptions: decoded from the body, or from the parameters of a request without a body, and checked as a cluster does. */

import { parseJson } from '../../../base/parse-json.ts';
import { isJsonObject, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { FieldError } from '../store/field-error.ts';
import { badRequest, invalid, quote, unsupportedMediaType } from '../store/status.ts';
import { PROTOBUF_TYPE, readProtobuf } from '../wire/protobuf.ts';
import { flag, integer } from '../wire/request-info.ts';
import { PROPAGATIONS } from '../write/deletion.ts';
import type { Propagation } from '../write/deletion.ts';
import type { Preconditions } from '../write/writer.ts';

/** The options of a deletion. Grace periods are accepted and have no effect, because there is no kubelet. */
export interface DeletionOptions {
  readonly dryRun: boolean;
  readonly preconditions: Preconditions;
  readonly propagation: Propagation | undefined;
  /** True for the older `orphanDependents: false`, by which an object that stays is answered with 202. */
  readonly isOldBackground: boolean;
}

const KIND = 'DeleteOptions';
const OPTIONS = { kind: KIND, group: 'meta.k8s.io' };
/** The Go type of each field. */
const TYPES: Readonly<Record<string, string>> = {
  gracePeriodSeconds: 'int64',
  preconditions: 'v1.Preconditions',
  orphanDependents: 'bool',
  propagationPolicy: 'v1.DeletionPropagation',
  dryRun: '[]string',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'bool',
};
const PRECONDITION_TYPES: Readonly<Record<string, string>> = { uid: 'types.UID', resourceVersion: 'string' };
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const JSON_TYPE = 'application/json';
const SCHEME = 'in scheme "pkg/runtime/scheme.go:111"';

/** @throws StatusError 400, 415, and 422 for options that contradict each other */
export function deletionOptions(type: string, body: Buffer, query: URLSearchParams): DeletionOptions {
  return optionsOf(body.length === 0 ? fromQuery(query) : fromBody(type, body));
}

/** Returns the options of an Eviction, whose parameters can request a dry run as well. @throws StatusError 400 and 422 */
export function evictionOptions({ deleteOptions }: KubeObject, dryRun: boolean): DeletionOptions {
  const given = isJsonObject(deleteOptions) ? deleteOptions : {};
  const options = optionsOf(
    given,
    'deleteOptions.',
    'Eviction in version "v1" cannot be handled as a Eviction: ',
  );
  return { ...options, dryRun: dryRun || options.dryRun };
}

/** @param path of the options in the body */
function optionsOf(given: JsonObject, path = '', refusal = ''): DeletionOptions {
  const options = decoded(given, TYPES, (field) => `${KIND}.${path}${field}`, refusal);
  const { propagationPolicy: policy, orphanDependents: orphans } = options;
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'] : [];
  const errors = [...policyErrors(policy, orphans), ...dryRunErrors(dryRun)];
  if (errors.length > 0) throw invalid(OPTIONS, '', errors);
  const older = orphans === undefined ? undefined : orphans === true ? 'Orphan' : 'Background';
  const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
  return {
    dryRun: dryRun.length > 0,
    preconditions: decoded(
      preconditions,
      PRECONDITION_TYPES,
      (field) => `Preconditions.${path}preconditions.${field}`,
      refusal,
    ),
    propagation: older ?? PROPAGATIONS.find((known) => known === policy),
    isOldBackground: orphans === false,
  };
}

function policyErrors(policy: Json | undefined, orphans: Json | undefined): FieldError[] {
  if (policy === undefined) return [];
  const errors: FieldError[] = [];
  const field = 'propagationPolicy';
  if (orphans !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push({
      type: 'FieldValueInvalid',
      field,
      body: `Invalid value: ${JSON.stringify(policy)}: ${why}`,
    });
  }
  if (!PROPAGATIONS.some((known) => known === policy)) {
    const body = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    errors.push({ type: 'FieldValueNotSupported', field, body });
  }
  return errors;
}

/** Returns the error of a dry run for another value than `All`. */
export function dryRunErrors(given: readonly Json[]): FieldError[] {
  if (given.every((value) => value === 'All')) return [];
  const body = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
  return [{ type: 'FieldValueNotSupported', field: 'dryRun', body }];
}

function fromQuery(query: URLSearchParams): JsonObject {
  const texts = ['uid', 'resourceVersion'].flatMap((name) =>
    query.get(name) ? [[name, query.get(name)]] : [],
  );
  integer(query, 'gracePeriodSeconds');
  return {
    ...(query.has('orphanDependents') ? { orphanDependents: flag(query, 'orphanDependents') } : {}),
    propagationPolicy: query.get('propagationPolicy'),
    dryRun: query.getAll('dryRun'),
    preconditions: Object.fromEntries(texts) as JsonObject,
  };
}

function fromBody(type: string, body: Buffer): JsonObject {
  const given = type.toLowerCase() === PROTOBUF_TYPE ? readProtobuf(body) : jsonOf(type, body);
  const { kind, apiVersion } = decoded(
    given,
    { kind: 'string', apiVersion: 'string' },
    (field) => `.${field}`,
  );
  const [kindName, version] = [textOf(kind ?? '') || KIND, textOf(apiVersion ?? '') || 'meta.k8s.io/v1'];
  if (kindName === 'ListOptions')
    throw badRequest(`converting (v1.ListOptions) to (v1.${KIND}): unknown conversion`);
  if (kindName !== KIND)
    throw badRequest(`no kind ${quote(kindName)} is registered for version ${quote(version)} ${SCHEME}`);
  return given;
}

function jsonOf(type: string, body: Buffer): JsonObject {
  if (type !== '' && type.toLowerCase() !== JSON_TYPE) throw unsupportedMediaType();
  const json = parseJson(body.toString()) as Json | undefined;
  const prefix = "couldn't get version/kind; json parse error:";
  if (json === undefined) throw badRequest(`${prefix} the body is not valid JSON`);
  if (json === null) return {};
  if (isJsonObject(json)) return json;
  throw badRequest(`${prefix} json: cannot unmarshal ${goType(json)} into Go value of type ${TYPE_META}`);
}

/** Returns the fields of these types; a null is an absent field. @throws StatusError 400 for a value of another type */
function decoded(
  given: JsonObject,
  types: Readonly<Record<string, string>>,
  nameOf: (field: string) => string,
  refusal = '',
): JsonObject {
  const result: JsonObject = {};
  for (const [field, type] of Object.entries(types)) {
    const value = Object.hasOwn(given, field) ? given[field] : undefined;
    if (value === undefined || value === null) continue;
    const [found, wanted] = mismatch(value, type) ?? [];
    if (found !== undefined)
      throw badRequest(
        `${refusal}json: cannot unmarshal ${found} into Go struct field ${nameOf(field)} of type ${wanted}`,
      );
    result[field] = value;
  }
  return result;
}

/** Returns the type that was found and the type that was wanted; undefined if the value fits. */
function mismatch(value: Json, type: string): readonly [string, string] | undefined {
  const found = goType(value);
  if (type === 'int64') {
    if (Number.isSafeInteger(value)) return undefined;
    return [found === 'number' ? `number ${JSON.stringify(value)}` : found, type];
  }
  if (type === '[]string') {
    const other = Array.isArray(value)
      ? value.find((item) => item !== null && typeof item !== 'string')
      : value;
    if (other === undefined) return undefined;
    return [goType(other), Array.isArray(value) ? 'string' : type];
  }
  const wanted = type === 'bool' ? 'bool' : type === 'v1.Preconditions' ? 'object' : 'string';
  return found === wanted ? undefined : [found, type];
}

function goType(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** DeleteOptions: decoded from the body, or from the parameters of a request without a body, and checked as a cluster does. */

import { decodeShape, goType } from '../shapes/decoder.ts';
import { isJsonObject, memberOf, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { readDocument } from '../store/read-json.ts';
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
const SHAPE = { $ref: 'meta.v1.DeleteOptions' };
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
  const prefix = 'Eviction in version "v1" cannot be handled as a Eviction: ';
  const options = optionsOf(isJsonObject(deleteOptions) ? deleteOptions : {}, 'deleteOptions', prefix);
  return { ...options, dryRun: dryRun || options.dryRun };
}

/** @param path of the options in the body */
function optionsOf(given: JsonObject, path = '', prefix = ''): DeletionOptions {
  const to = { unknown: [], refuse: (why: string) => badRequest(`${prefix}${why}`) };
  const options = decodeShape(to, given, SHAPE, path);
  const [policy, orphans] = [memberOf(options, 'propagationPolicy'), memberOf(options, 'orphanDependents')];
  const runs = memberOf(options, 'dryRun');
  const dryRun = Array.isArray(runs) ? runs : [];
  const errors = [...policyErrors(policy, orphans), ...dryRunErrors(dryRun)];
  if (errors.length > 0) throw invalid(OPTIONS, '', errors);
  const older = orphans === undefined ? undefined : orphans === true ? 'Orphan' : 'Background';
  const preconditions = memberOf(options, 'preconditions');
  return {
    dryRun: dryRun.length > 0,
    preconditions: isJsonObject(preconditions) ? preconditions : {},
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
  for (const field of ['kind', 'apiVersion']) {
    const value = memberOf(given, field) ?? '';
    if (typeof value === 'string') continue;
    throw badRequest(`json: cannot unmarshal ${goType(value)} into Go struct field .${field} of type string`);
  }
  const { kind, apiVersion } = given;
  const [kindName, version] = [textOf(kind ?? '') || KIND, textOf(apiVersion ?? '') || 'meta.k8s.io/v1'];
  if (kindName === 'ListOptions')
    throw badRequest(`converting (v1.ListOptions) to (v1.${KIND}): unknown conversion`);
  if (kindName !== KIND)
    throw badRequest(`no kind ${quote(kindName)} is registered for version ${quote(version)} ${SCHEME}`);
  return given;
}

function jsonOf(type: string, body: Buffer): JsonObject {
  if (type !== '' && type.toLowerCase() !== JSON_TYPE) throw unsupportedMediaType();
  const json = readDocument(body.toString(), true).value;
  const prefix = "couldn't get version/kind; json parse error:";
  if (json === undefined) throw badRequest(`${prefix} the body is not valid JSON`);
  if (json === null) return {};
  if (isJsonObject(json)) return json;
  throw badRequest(`${prefix} json: cannot unmarshal ${goType(json)} into Go value of type ${TYPE_META}`);
}

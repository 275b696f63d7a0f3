/**
 * Status: Kubernetes' answer for an error, in the exact wording of apimachinery's api/errors. Clients decide
 * by `reason` and `code`, and some by the message, so the wording is part of the contract.
 */

import type { FieldError } from './field-error.ts';
import type { JsonObject } from './json.ts';
import type { ResourceDefinition } from './resources.ts';

/** A cause in the status of a refused request. */
export interface StatusCause extends JsonObject {
  reason?: string;
  message?: string;
  field?: string;
}

interface StatusDetails extends JsonObject {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status extends JsonObject {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: JsonObject;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** Thrown by a verb that fails; the HTTP layer writes `status` as the answer. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'failure');
    this.name = 'StatusError';
    this.status = status;
  }
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

/** Returns the failure of a status code, with the reason of the code. */
function failure(
  code: number,
  message: string,
  details?: StatusDetails,
  reason: string = REASONS.get(code) ?? 'Unknown',
  metadata: JsonObject = {},
): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** The name of a resource in messages: `pods`, `deployments.apps`. */
export function qualifiedName(definition: ResourceDefinition): string {
  return definition.group === '' ? definition.resource : `${definition.resource}.${definition.group}`;
}

function detailsOf(definition: ResourceDefinition, name: string): StatusDetails {
  return {
    name,
    ...(definition.group === '' ? {} : { group: definition.group }),
    kind: definition.resource,
  };
}

/** The control characters that Go names and JSON does not. */
const GO_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['07', '\\a'],
  ['0b', '\\v'],
]);

/** Quotes like Go's %q, for the strings that occur here. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/\\(?:\\|u00([01][\da-f]))|\u007F/g, (escape, hex?: string) => {
    if (hex !== undefined) return GO_ESCAPES.get(hex) ?? `\\x${hex}`;
    return escape === '\u007F' ? '\\x7f' : escape;
  });
}

export function notFound(definition: ResourceDefinition, name: string): StatusError {
  const message = `${qualifiedName(definition)} ${quote(name)} not found`;
  return failure(404, message, detailsOf(definition, name));
}

/** Returns the answer for a group, version, resource or subresource that is not registered. */
export function unknownResource(): StatusError {
  const message = 'the server could not find the requested resource';
  return failure(404, message, {});
}

export function alreadyExists(definition: ResourceDefinition, name: string): StatusError {
  const message = `${qualifiedName(definition)} ${quote(name)} already exists`;
  return failure(409, message, detailsOf(definition, name), 'AlreadyExists');
}

export const STALE_RESOURCE_VERSION =
  'the object has been modified; please apply your changes to the latest version and try again';

export function conflict(definition: ResourceDefinition, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(definition)} ${quote(name)}: ${why}`;
  return failure(409, message, detailsOf(definition, name));
}

/** Fields of other managers in a server-side apply without `force`. */
export function applyConflict(message: string, causes: StatusCause[]): StatusError {
  return failure(409, message, { causes });
}

/** A precondition of a DELETE: here the real server names the kind instead of the resource. */
export function deleteConflict(definition: ResourceDefinition, name: string, why: string): StatusError {
  return conflict({ ...definition, resource: definition.kind }, name, why);
}

export function invalid(
  { kind, group: given }: Pick<ResourceDefinition, 'kind' | 'group'>,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  // Events are stored, and so refused, as events of the core group.
  const group = given === 'events.k8s.io' ? '' : given;
  const qualified = group === '' ? kind : `${kind}.${group}`;
  const lines = errors.map((error) => `${error.field}: ${error.body}`);
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const causes = errors.map((error) => ({ reason: error.type, message: error.body, field: error.field }));
  return failure(422, `${qualified} ${quote(name)} is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(kind === '' ? {} : { kind }),
    causes,
  });
}

/** Returns the refusal of a verb's error; undefined for an internal error. */
export function refusalOf(error: unknown): StatusError | undefined {
  if (error instanceof StatusError) return error;
  // A real server stores 10,000 levels; this server needs a stack frame for each.
  if (error instanceof RangeError && error.message.startsWith('Maximum call stack'))
    return badRequest('the object is nested too deep for the embedded apiserver');
  return undefined;
}

export function badRequest(message: string): StatusError {
  return failure(400, message);
}

export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized');
}

export function forbidden(message: string, details: StatusDetails): StatusError {
  return failure(403, message, details);
}

/** In a namespace that is being deleted, creations are refused. */
export function namespaceTerminating(
  definition: ResourceDefinition,
  name: string,
  namespace: string,
): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  const cause = { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' };
  return forbidden(`${qualifiedName(definition)} ${quote(name)} is forbidden: ${why}`, {
    ...detailsOf(definition, name),
    causes: [cause],
  });
}

export function namespaceImmortal(definition: ResourceDefinition, name: string): StatusError {
  const why = 'this namespace may not be deleted';
  const message = `${qualifiedName(definition)} ${quote(name)} is forbidden: ${why}`;
  return forbidden(message, detailsOf(definition, name));
}

/** A custom resource whose definition is being deleted. */
export function createNotAllowed(definition: ResourceDefinition, name: string): StatusError {
  const message = 'create not allowed while custom resource definition is terminating';
  return failure(405, message, detailsOf(definition, name));
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return failure(405, message, {});
}

/** A verb that the router of custom resources does not have. */
export function unsupportedVerb(definition: ResourceDefinition, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${quote(qualifiedName(definition))}`;
  const { group, resource: kind } = definition;
  return failure(405, message, { ...(group === '' ? {} : { group }), kind });
}

/** A body without a name, where the URL names the object. */
export function nameUndeterminable(name: string): StatusError {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

/** Returns the cause of a refusal of a whole body, without the words about a body. */
function causeOf({ message }: StatusError): string {
  return message.replace(/^.* in version ".*?" cannot be handled as a \w+: /, '');
}

/** A configuration of an apply that is not of the kind. */
export function unconvertible(object: string, kind: string, error: StatusError): StatusError {
  const cause = causeOf(error)
    .replace(/Go struct field \S+/, 'Go value')
    .replace(/^illegal base64/, 'error decoding from json: $&');
  const what = `failed to convert new object (${object}; ${kind}) to proper version`;
  return bareFailure(`${what}: unable to convert unstructured object to ${kind}: ${cause}`);
}

/** A patched object that is not of the kind. @param shown text of the patched object, or of the patch */
export function undecodablePatch(shown: string, error: StatusError): StatusError {
  const body = `Invalid value: ${quote(shown)}: ${causeOf(error)}`;
  return invalid({ kind: '', group: '' }, '', [{ type: 'FieldValueInvalid', field: 'patch', body }]);
}

/** A uid in the body of an update that is not the uid of the object; '' if there is no object. */
export function otherUid(
  definition: ResourceDefinition,
  key: string,
  given: string,
  uid: string,
): StatusError {
  const why = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${uid}`;
  const where = `Key: /registry/${definition.resource}/${key}, ResourceVersion: 0`;
  const name = key.split('/').at(-1) ?? '';
  return conflict(
    definition,
    name,
    `StorageError: invalid object, Code: 4, ${where}, AdditionalErrorMsg: ${why}`,
  );
}

/** Another uid in a patch, which two rules of a cluster refuse. */
export function changedUid(definition: ResourceDefinition, name: string, uid: string): StatusError {
  const body = `Invalid value: ${quote(uid)}: field is immutable`;
  const error: FieldError = { type: 'FieldValueInvalid', field: 'metadata.uid', body };
  const refused = invalid(definition, name, [error, error]);
  refused.status.message = `${definition.kind} ${quote(name)} is invalid: metadata.uid: ${body}`;
  return refused;
}

export function nameMissing(): StatusError {
  return badRequest('name must be provided');
}

/** An eviction that a disruption budget does not allow. */
export function disruptionBudget(message: string, retryAfterSeconds: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const details = retryAfterSeconds === 0 ? { causes } : { causes, retryAfterSeconds };
  return failure(429, "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

/** A patch that is well-formed but does not apply. The real server gives no reason either. */
export function unprocessable(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return failure(422, message, {});
}

/** A form of an answer that this server does not offer. */
export function notAcceptable(why: string): StatusError {
  return failure(406, why);
}

/** Returns the refusal of an `Accept` without JSON. */
export function noRepresentation(): StatusError {
  return failure(406, '406: Not Acceptable\n\nAvailable representations: application/json', {});
}

export function unsupportedMediaType(): StatusError {
  const message =
    'the body of the request was in an unknown format - accepted media types include: application/json';
  return failure(415, message);
}

export function unsupportedPatchType(isCustom: boolean): StatusError {
  const strategic = isCustom ? [] : ['application/strategic-merge-patch+json'];
  const accepted = ['json-patch+json', 'merge-patch+json', 'apply-patch+yaml'].map(
    (type) => `application/${type}`,
  );
  const types = [...accepted, ...strategic].join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return failure(415, message);
}

/** A protobuf body beyond the messages that this server reads. */
export function unsupportedProtobuf(what: string): StatusError {
  const advice = 'send JSON; `kubectl apply -f` does';
  return failure(
    415,
    `the embedded apiserver reads protobuf of \`kubectl create\` only, not ${what}: ${advice}`,
  );
}

/** The real server quotes the body. */
export function objectNotRecognized(definition: ResourceDefinition): StatusError {
  const cause = "couldn't get version/kind; json parse error: the body is not the JSON of an object";
  return badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${cause}`);
}

const SHOWN_CHARACTERS = 30;

/** The body of a custom resource must name the kind and the version. */
export function memberMissing(
  definition: ResourceDefinition,
  member: 'Kind' | 'apiVersion',
  body: string,
): StatusError {
  const start = body.length > SHOWN_CHARACTERS ? `${body.slice(0, SHOWN_CHARACTERS)} ...` : body;
  const why = `Object '${member}' is missing in '${body}' (${start})`;
  return badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${why}`);
}

export function entityTooLarge(limitBytes: number): StatusError {
  const message = `Request entity too large: limit is ${limitBytes}`;
  return failure(413, message, {});
}

export function expired(message: string, continueToken?: string): StatusError {
  const metadata = continueToken === undefined ? {} : { continue: continueToken };
  return failure(410, message, undefined, 'Expired', metadata);
}

export function tooLargeResourceVersion(asked: number, current: number): StatusError {
  return failure(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** A failure of the storage layer without a reason: the real server answers 500 and the bare message. */
export function bareFailure(message: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    code: 500,
  });
}

export function internalError(message: string): StatusError {
  return failure(500, `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** Any other failure, for injected failures. */
export function failureOf(code: number, message: string, retryAfterSeconds?: number): StatusError {
  return failure(code, message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
}

/** The answer to a Binding or an Eviction. */
export function created(): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

export function success(definition: ResourceDefinition, name: string, uid: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf(definition, name), uid },
  };
}

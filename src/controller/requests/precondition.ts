/**
 * The precondition of a write for the owner of a partition or lease: without it the write could overwrite a successor's
 * write.
 */
import { KubeloomError } from '../../base/errors.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { SendRequest } from '../../http/api-client.ts';
import { metadataOf } from '../object-arguments.ts';
import { testedVersion } from './patches.ts';

/** Servers read version 0 as no version, and update unconditionally. @throws ERR_KUBELOOM_OPTION */
export function checkPrecondition({ resource }: ResourceRef, { method, body, path }: SendRequest): void {
  const where = preconditionOf(method, path.split('?', 1)[0] ?? path, body);
  if (where === undefined || (where.version !== '' && where.version !== '0')) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `a ${method} of ${resource} (${path}) has no precondition: the owner of a partition or lease writes with ${where.member} of the object that it read`,
  );
}

interface Precondition {
  /** Place of the version in the arguments. */
  readonly member: string;
  /** '' when it is missing. */
  readonly version: string;
}

/** Returns the precondition that a write carries; undefined for a write that needs no precondition. */
function preconditionOf(
  method: SendRequest['method'],
  path: string,
  body: unknown,
): Precondition | undefined {
  if (method === 'DELETE') return inPreconditions(body, 'the option resourceVersion');
  if (method === 'POST') {
    if (!path.endsWith('/eviction')) return undefined;
    const { deleteOptions } = isRecord(body) ? body : {};
    return inPreconditions(deleteOptions, 'deleteOptions.preconditions.resourceVersion');
  }
  if (Array.isArray(body)) {
    return { member: 'a test of /metadata/resourceVersion', version: testedVersion(body) };
  }
  return { member: 'metadata.resourceVersion', version: metadataOf(body).resourceVersion ?? '' };
}

function inPreconditions(options: unknown, member: string): Precondition {
  const { preconditions } = isRecord(options) ? options : {};
  const { resourceVersion } = isRecord(preconditions) ? preconditions : {};
  return { member, version: typeof resourceVersion === 'string' ? resourceVersion : '' };
}

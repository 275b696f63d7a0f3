/** A request, and the parts of the URL, such as `/apis/apps/v1/namespaces/a/deployments/web/status?watch=1`. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Collection } from '../store/event-log.ts';
import type { RequestFaults } from '../faults/fault-answers.ts';
import type { RequestRecord } from './request-log.ts';
import { badRequest, quote } from '../store/status.ts';

export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** '' for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** @internal A parsed request for a resource, as every verb receives it. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly collection: Collection;
  readonly faults: RequestFaults;
  readonly record: RequestRecord;
}

/** Returns the parts of a resource URL; undefined for discovery, health and everything else. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const [root, ...parts] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'apis' ? (parts.shift() ?? '') : '';
  const version = parts.shift() ?? '';
  const [first, second = '', third, fourth = '', ...rest] = parts;
  if (first === undefined || version === '') return undefined;
  const scoped = first === 'namespaces' && third !== undefined && third !== 'status' && third !== 'finalize';
  if (!scoped) {
    const subresource = [third ?? '', fourth, ...rest].filter((part) => part !== '').join('/');
    return { group, version, resource: first, namespace: '', name: second, subresource };
  }
  return { group, version, resource: third, namespace: second, name: fourth, subresource: rest.join('/') };
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Returns the verb of a request in the wording of authorization. */
export function authorizedVerbOf({ method, watch }: RequestRecord, { name }: ResourcePath): string {
  if (method === 'DELETE' && name === '') return 'deletecollection';
  const written = VERBS[method];
  if (written !== undefined) return written;
  if (name !== '') return 'get';
  return watch ? 'watch' : 'list';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** True for `true`, `1` and an empty value, as in Kubernetes. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== 'false' && value !== '0';
}

/** An integer option, or undefined when absent. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
}

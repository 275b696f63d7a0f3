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

const WATCH_PREFIX =
  /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/watch\/((?:namespaces\/[^/]+\/)?[^/]+)(?:\/([^/]+))?\/?$/;

/** Returns the URL of a deprecated watch, `/api/v1/watch/pods`, as the URL of a list with the parameter `watch`. */
export function withoutWatchPrefix(url: URL): URL {
  const [, root, collection, name] = WATCH_PREFIX.exec(url.pathname) ?? [];
  if (root === undefined) return url;
  const list = new URL(`${root}/${collection}${url.search}`, url);
  list.searchParams.set('watch', '1');
  if (name !== undefined) list.searchParams.set('fieldSelector', `metadata.name=${name}`);
  return list;
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

/** True for every value except `0` and `false` in any case, as a cluster converts parameters. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

const INT64_MAX = 2n ** 63n - 1n;

/** An integer option, or undefined when absent. @throws StatusError 400 */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  const isNumber = /^[+-]?\d+$/.test(value);
  const number = isNumber ? BigInt(value.replace('+', '')) : 0n;
  if (isNumber && number <= INT64_MAX && number >= -INT64_MAX - 1n) return Number(number);
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: ${why}`);
}

const DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Checks the parameter `timeout`, a duration of Go, which has no effect here. @throws StatusError 400 */
export function checkTimeout(query: URLSearchParams): void {
  const value = query.get('timeout') ?? '';
  if (value === '' || DURATION.test(value)) return;
  const start = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^\d.]*)/.exec(
    value,
  );
  const unit = start?.[1] ?? '';
  const found = unit === '' ? 'missing unit in' : `unknown unit ${quote(unit)} in`;
  const why = start === null ? 'invalid' : found;
  throw badRequest(`invalid timeout specified in the request URL - time: ${why} duration ${quote(value)}`);
}

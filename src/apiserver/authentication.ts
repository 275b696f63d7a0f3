/**
 * Checks the bearer token; a request with the right token may do everything. A wrong token is answered with
 * 401. A request without a token is anonymous and may read only health and version.
 */

import type { IncomingMessage } from 'node:http';
import { flag } from './request-info.ts';
import type { ResourcePath } from './request-info.ts';
import { forbidden, quote, unauthorized } from './status.ts';
import type { StatusError } from './status.ts';

export const HEALTH: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);
const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Returns when the request is allowed. @throws StatusError when it is not */
export function authenticate(
  token: string,
  request: IncomingMessage,
  path: ResourcePath | undefined,
  url: URL,
): void {
  const { authorization } = request.headers;
  if (token === '' || authorization === `Bearer ${token}`) return;
  if (authorization !== undefined) throw unauthorized();
  if (HEALTH.has(url.pathname) || url.pathname === '/version') return;
  throw anonymousForbidden(verbOf(request, path, url), path, url.pathname);
}

/** The verb of the request in the wording of authorization. */
function verbOf(request: IncomingMessage, path: ResourcePath | undefined, url: URL): string {
  const method = request.method ?? 'GET';
  if (path === undefined) return method.toLowerCase();
  if (method !== 'GET') {
    return method === 'DELETE' && path.name === '' ? 'deletecollection' : (VERBS[method] ?? 'get');
  }
  if (path.name !== '') return 'get';
  return flag(url.searchParams, 'watch') ? 'watch' : 'list';
}

function anonymousForbidden(verb: string, path: ResourcePath | undefined, url: string): StatusError {
  const who = 'User "system:anonymous" cannot';
  if (path === undefined) return forbidden(`forbidden: ${who} ${verb} path ${quote(url)}`, {});
  const { group, resource, name, namespace } = path;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const subject = name === '' ? qualified : `${qualified} ${quote(name)}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  const what = `${verb} resource ${quote(resource)} in API group ${quote(group)} ${where}`;
  return forbidden(`${subject} is forbidden: ${who} ${what}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

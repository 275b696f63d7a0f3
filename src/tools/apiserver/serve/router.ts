/** A request: authenticates it, applies faults, and passes it to the verb or to the discovery documents. */

import { messageOf } from '../../../base/errors.ts';
import { isLoopbackHost } from '../../../base/loopback.ts';
import type { ResolvedOptions } from '../store/server-options.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { documentAt } from './discovery.ts';
import { listedVerb } from './listed-verbs.ts';
import { applyFaults } from '../faults/fault-answers.ts';
import type { FaultVerb, RequestFacts } from '../faults/fault-rules.ts';
import { sendStatus } from '../wire/http-io.ts';
import {
  authorizedVerbOf,
  checkTimeout,
  flag,
  parseResourcePath,
  withoutWatchPrefix,
} from '../wire/request-info.ts';
import type { ResourcePath } from '../wire/request-info.ts';
import type { RequestRecord } from '../wire/request-log.ts';
import { Rights } from '../wire/rights.ts';
import {
  forbidden,
  internalError,
  methodNotAllowed,
  quote,
  refusalOf,
  unauthorized,
  unknownResource,
  unsupportedMediaType,
} from '../store/status.ts';
import type { Status, StatusError } from '../store/status.ts';
import { serveResource } from './verbs.ts';
import type { Services } from './verbs.ts';

/** Documents that have a single method. */
const ONLY_READ = /^\/(?:version|api|api\/v1|apis\/[^/]+\/[^/]+)\/?$/;
const HEALTH: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

export function handleRequest(services: Services, request: IncomingMessage, response: ServerResponse): void {
  const isAdmin = request.headers.authorization === `Bearer ${services.adminToken}`;
  // `rbac()` returns the rights of the program.
  const own = isAdmin ? { ...services, rights: new Rights() } : services;
  serve(own, request, response, isAdmin).catch((error: unknown) => {
    if (response.headersSent || response.destroyed) response.destroy();
    else sendStatus(response, statusOf(error));
  });
}

async function serve(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
  isAdmin: boolean,
): Promise<void> {
  const { log, table, listener, options } = services;
  const url = withoutWatchPrefix(urlOf(request));
  const record = recordOf(request, url);
  services.requests.add(record);
  response.setHeader('Cache-Control', 'no-cache, private');
  if (HEALTH.has(url.pathname)) {
    response.end('ok');
    return;
  }
  const path = parseResourcePath(url.pathname);
  if (path) addRights(services, record, path);
  if (options.token === '') refuseWebPages(options, request);
  if (!isAdmin) authenticate(options.token, request, record, path, url);
  const query = url.searchParams;
  const facts: RequestFacts = {
    verb: verbOf(record, path),
    resource: path?.resource ?? '',
    method: record.method,
    path: url.pathname,
    connection: listener.numberOf(request.socket),
    token: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
    query,
  };
  const faults = await applyFaults(services, facts, response);
  if (faults === undefined || response.destroyed) return;
  if (!record.watch) checkTimeout(query);
  const definition = path && table.find(path.group, path.version, path.resource);
  const verb = definition && listedVerb(definition, path, record.method);
  if (path !== undefined && definition !== undefined && verb !== undefined) {
    const collection = log.collection(definition);
    await serveResource(services, { request, response, path, query, collection, faults, record }, verb);
    return;
  }
  const { code, type, body } = documentAt(url.pathname, request.headers.accept ?? '', table);
  const [root, group = ''] = url.pathname.split('/').filter((part) => part !== '');
  const isGroup = root === 'apis' && table.all().some((each) => each.custom !== true && each.group === group);
  const isBuiltIn = root === 'api' || isGroup;
  if (isBuiltIn && code === 404) throw unknownResource();
  const isRefused = record.method !== 'GET' && ONLY_READ.test(url.pathname);
  if (isRefused && (isBuiltIn || root === 'version')) throw methodNotAllowed();
  response.writeHead(code, { 'Content-Type': type }).end(body);
}

/** Returns the URL of a request line, which may be a whole URL or no URL at all. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const path = url.startsWith('/') ? url : `/${url.replace(/^[a-z]+:\/\/[^/]*\/?/i, '')}`;
  return new URL(`http://localhost${path}`);
}

function addRights({ rights, table }: Services, record: RequestRecord, path: ResourcePath): void {
  const verb = authorizedVerbOf(record, path);
  rights.add(path, verb);
  const isEverywhere = verb === 'watch' && path.namespace === '';
  if (isEverywhere && table.find(path.group, path.version, path.resource)?.namespaced)
    rights.watchedEverywhere(path);
  // A client that lists in a watch sends a LIST to a server that cannot stream.
  if (record.watch && record.query['sendInitialEvents'] === 'true') rights.add(path, 'list');
}

function verbOf({ method, watch }: RequestRecord, path: ResourcePath | undefined): FaultVerb {
  if (path === undefined || method !== 'GET') return 'other';
  return watch ? 'watch' : 'list';
}

function statusOf(error: unknown): Status {
  const refused = refusalOf(error);
  if (refused) return refused.status;
  return internalError(messageOf(error)).status;
}

function recordOf(request: IncomingMessage, url: URL): RequestRecord {
  const watch = request.method === 'GET' && flag(url.searchParams, 'watch');
  const query = Object.fromEntries(url.searchParams);
  return { method: request.method ?? 'GET', path: url.pathname, query, watch };
}

/**
 * Checks the bearer token; a request with the right token may do everything. A wrong token is answered with
 * 401. A request without a token is anonymous and may read only health and version.
 */
function authenticate(
  token: string,
  request: IncomingMessage,
  record: RequestRecord,
  path: ResourcePath | undefined,
  url: URL,
): void {
  const { authorization } = request.headers;
  if (token === '' || authorization === `Bearer ${token}`) return;
  if (authorization !== undefined) throw unauthorized();
  if (url.pathname === '/version') return;
  const verb = path ? authorizedVerbOf(record, path) : record.method.toLowerCase();
  throw anonymousForbidden(verb, path, url.pathname);
}

/**
 * If there is no token, a web page could make a browser on this machine send requests: through another name of this
 * address, or with a body without a type, which needs no permission of the server.
 */
function refuseWebPages({ allowRemote }: ResolvedOptions, { headers }: IncomingMessage): void {
  const { host = '', 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  if (!allowRemote && !isLoopbackHost(host.replace(/:\d+$/, '')))
    throw forbidden(`requests to ${quote(host)} are refused, as this server has no token`, {});
  if ((length !== '0' || encoding !== undefined) && headers['content-type'] === undefined)
    throw unsupportedMediaType();
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

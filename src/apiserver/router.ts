/** One request: authenticates it, applies its faults, and passes it to the verb or to the discovery documents. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { HEALTH, authenticate } from './authentication.ts';
import { discover } from './discovery.ts';
import { applyFaults } from './fault-answers.ts';
import type { RequestFacts } from './fault-rules.ts';
import { sendJson, sendStatus } from './http-io.ts';
import { openApi } from './openapi.ts';
import { flag, parseResourcePath } from './request-info.ts';
import type { ResourcePath } from './request-info.ts';
import type { RequestLog, RequestRecord } from './request-log.ts';
import type { ResourceTable } from './resources.ts';
import type { Services } from './services.ts';
import { StatusError, badRequest, internalError, unknownResource } from './status.ts';
import type { Status } from './status.ts';
import { serveResource } from './verbs.ts';

export class RequestRouter {
  readonly #services: Services;
  readonly #table: ResourceTable;
  readonly #requests: RequestLog;

  constructor(services: Services, table: ResourceTable, requests: RequestLog) {
    this.#services = services;
    this.#table = table;
    this.#requests = requests;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#serve(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      sendStatus(response, statusOf(error));
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const record = recordOf(request, url);
    this.#requests.add(record);
    response.setHeader('Cache-Control', 'no-cache, private');
    if (HEALTH.has(url.pathname)) {
      response.end('ok');
      return;
    }
    const path = parseResourcePath(url.pathname);
    authenticate(this.#services.options.token, request, path, url);
    const { log, engine, connections } = this.#services;
    const facts = this.#factsOf(request, record, path, url.searchParams);
    const faults = await applyFaults(engine, facts, response, log, connections);
    if (faults === undefined || response.destroyed) return;
    const definition = path && this.#table.find(path.group, path.version, path.resource);
    if (path === undefined || definition === undefined) {
      if (path !== undefined && this.#table.serves(path.group, path.version)) throw unknownResource();
      this.#serveDocument(request, response, url.pathname);
      return;
    }
    const collection = log.collection(definition);
    const { query } = facts;
    await serveResource(this.#services, { request, response, path, query, collection, faults, record });
  }

  #factsOf(
    request: IncomingMessage,
    { method, path, watch }: RequestRecord,
    resourcePath: ResourcePath | undefined,
    query: URLSearchParams,
  ): RequestFacts {
    const isRead = resourcePath !== undefined && method === 'GET';
    return {
      verb: isRead ? (watch ? 'watch' : 'list') : 'other',
      resource: resourcePath?.resource ?? '',
      method,
      path,
      connection: this.#services.connections.numberOf(request.socket),
      token: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
      query,
    };
  }

  #serveDocument(request: IncomingMessage, response: ServerResponse, path: string): void {
    const document = discover(path, this.#table);
    if (document !== undefined) {
      sendJson(response, 200, document);
      return;
    }
    const schema = openApi(path, request.headers.accept ?? '', this.#table);
    if (schema !== undefined) {
      response.writeHead(200, { 'Content-Type': schema.type }).end(schema.body);
      return;
    }
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('404 page not found\n');
  }
}

function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  return (error instanceof SyntaxError ? badRequest(error.message) : internalError(String(error))).status;
}

function recordOf(request: IncomingMessage, url: URL): RequestRecord {
  const watch = request.method === 'GET' && flag(url.searchParams, 'watch');
  const query = Object.fromEntries(url.searchParams);
  return { method: request.method ?? 'GET', path: url.pathname, query, watch };
}

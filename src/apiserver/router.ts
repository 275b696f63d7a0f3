/** One request: authenticates it, applies its faults, and passes it to the verb or to the discovery documents. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { HEALTH, authenticate } from './authentication.ts';
import { discover } from './discovery.ts';
import { applyFaults } from './fault-answers.ts';
import type { RequestFacts } from './fault-rules.ts';
import type { FaultRule, Faults, RequestLog, RequestRecord } from './faults.ts';
import { sendJson, sendStatus } from './http-io.ts';
import { openApi } from './openapi.ts';
import { flag, parseResourcePath } from './request-info.ts';
import type { ResourceTable } from './resources.ts';
import type { Services } from './services.ts';
import { StatusError, badRequest, failureOf, internalError, unknownResource } from './status.ts';
import type { Status } from './status.ts';
import { serveResource } from './verbs.ts';

export class RequestRouter {
  readonly #services: Services;
  readonly #table: ResourceTable;
  readonly #faults: Faults;
  readonly #requests: RequestLog;

  constructor(services: Services, table: ResourceTable, faults: Faults, requests: RequestLog) {
    this.#services = services;
    this.#table = table;
    this.#faults = faults;
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
    const fault = this.#faults.take(record);
    if (fault !== undefined) {
      if (typeof fault.status === 'number') throw failure(fault, fault.status);
      if (fault.status === 'reset') this.#services.connections.reset(response.socket);
      return;
    }
    const definition = path && this.#table.find(path.group, path.version, path.resource);
    if (path === undefined || definition === undefined) {
      if (path !== undefined && this.#table.serves(path.group, path.version)) throw unknownResource();
      this.#serveDocument(request, response, url.pathname);
      return;
    }
    const { log, engine, connections } = this.#services;
    const facts = this.#factsOf(request, url, path.resource);
    const faults = await applyFaults(engine, facts, response, log, connections);
    if (faults === undefined || response.destroyed) return;
    const collection = log.collection(definition);
    const { query } = facts;
    await serveResource(this.#services, { request, response, path, query, collection, faults, record });
  }

  #factsOf(request: IncomingMessage, url: URL, resource: string): RequestFacts {
    const isWatch = flag(url.searchParams, 'watch');
    return {
      verb: request.method === 'GET' ? (isWatch ? 'watch' : 'list') : 'other',
      resource,
      path: url.pathname,
      connection: this.#services.connections.numberOf(request.socket),
      token: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
      query: url.searchParams,
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

function failure(rule: FaultRule, code: number): StatusError {
  return failureOf(code, rule.message ?? 'injected failure', rule.retryAfterSeconds);
}

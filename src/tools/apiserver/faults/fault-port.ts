/**
 * The faults by HTTP for other processes: a separate port on loopback, behind a token. The port that serves Kubernetes
 * does not serve them.
 *
 *   PUT    /faults            a FaultScenario: adds its rules to those in force
 *   DELETE /faults[?id=…]     heals a fault, or all
 *   GET    /faults            the faults that have struck, oldest first
 */

import { messageOf } from '../../../base/errors.ts';
import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FaultEngine, FaultScenario } from './fault-rules.ts';
import { jsonOf, readBody, sendJson, sendStatus } from '../wire/http-io.ts';
import { StatusError, badRequest, methodNotAllowed, unauthorized, unknownResource } from '../store/status.ts';

export interface FaultPortAddress {
  /** `http://127.0.0.1:34567`; the faults are at the path `/faults`. */
  readonly url: string;
  /** Bearer token of the requests; the server answers requests without it with 401. */
  readonly token: string;
}

const HOST = '127.0.0.1';
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** @internal */
export class FaultPort {
  readonly #engine: FaultEngine;
  readonly #token: string = crypto.randomUUID().replaceAll('-', '');
  #server: Server | undefined;

  constructor(engine: FaultEngine) {
    this.#engine = engine;
  }

  /** Listens, unless it already does. */
  async open(): Promise<FaultPortAddress> {
    if (this.#server === undefined) {
      const server = createServer((request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          sendStatus(response, (error instanceof StatusError ? error : badRequest(messageOf(error))).status);
        });
      });
      this.#server = server;
      await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    }
    const { port } = this.#server.address() as AddressInfo;
    return { url: `http://${HOST}:${port}`, token: this.#token };
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isAllowed(request.headers.authorization ?? '')) throw unauthorized();
    const url = new URL(request.url ?? '/', `http://${HOST}`);
    if (url.pathname !== '/faults') throw unknownResource();
    switch (request.method) {
      case 'PUT':
        this.#engine.set(jsonOf(await readBody(request, BODY_BYTES_MAX)) as unknown as FaultScenario);
        break;
      case 'DELETE':
        this.#engine.heal(url.searchParams.get('id') ?? undefined);
        break;
      case 'GET':
        sendJson(response, 200, this.#engine.landed);
        return;
      default:
        throw methodNotAllowed();
    }
    sendJson(response, 200, {});
  }

  #isAllowed(authorization: string): boolean {
    const given = Buffer.from(authorization);
    const wanted = Buffer.from(`Bearer ${this.#token}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

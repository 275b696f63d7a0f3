/**
 * Writes to an apiserver, for the load test: one request, its answer as JSON. Honours `Retry-After`. A missing answer
 * has another code than a refusal, because the write may have happened.
 */
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { KubeloomError } from '../../base/errors.ts';
import type { ConnectionOptions } from '../../shared/protocol.ts';
import { statusError } from '../../kube/status.ts';

export type WriteVerb = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The part of an answer that the load test needs: the version of the write. */
export interface WrittenObject {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
}

const TIMEOUT_MS = 60_000;
const PATIENCE_TRIES = 8;
const PATIENCE_MS = 250;
const SOCKETS_MAX = 64;

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly text: string;
}

export class ApiWriter implements Disposable {
  readonly #connection: ConnectionOptions;
  readonly #request: typeof https.request;
  readonly #agent: http.Agent;
  readonly #connectedEvent: string;

  constructor(connection: ConnectionOptions) {
    this.#connection = connection;
    const isTls = connection.server.startsWith('https:');
    const { ca, cert, key, servername, rejectUnauthorized = true } = connection;
    const pool = { keepAlive: true, maxSockets: SOCKETS_MAX };
    this.#connectedEvent = isTls ? 'secureConnect' : 'connect';
    this.#request = isTls ? https.request : http.request;
    this.#agent = isTls
      ? new https.Agent({ ...pool, ca, cert, key, servername, rejectUnauthorized })
      : new http.Agent(pool);
  }

  /**
   * @param onSent called when the request is written to its connection, and again when a busy server's request is
   * retried
   * @throws the server's refusal with its code; ERR_KUBELOOM_UNREACHABLE when there was no answer, so that the write
   * may have happened or not
   */
  async send(
    verb: WriteVerb,
    path: string,
    body?: object,
    onSent: () => void = () => {},
  ): Promise<WrittenObject> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#once(verb, path, body, onSent);
      const { status } = answer;
      if (status >= 200 && status < 300) return JSON.parse(answer.text) as WrittenObject;
      const isBusy = status === 429 || status === 503;
      if (!isBusy || tries === PATIENCE_TRIES)
        throw statusError(status, answer.text, undefined, `${verb} ${path}`);
      await delay(answer.retryAfterMs ?? PATIENCE_MS * tries);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #once(verb: WriteVerb, path: string, body: object | undefined, onSent: () => void): Promise<Answer> {
    const { server, headers } = this.#connection;
    const payload = body === undefined ? '' : JSON.stringify(body);
    const request = this.#request(`${server}${path}`, {
      method: verb,
      agent: this.#agent,
      timeout: TIMEOUT_MS,
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': verb === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        'content-length': Buffer.byteLength(payload),
      },
    });
    request.on('timeout', () => request.destroy(new Error(`no bytes for ${TIMEOUT_MS / 1000} s`)));
    // Waiting for a free connection is not sending. (`finish` may come after the answer.)
    request.on('socket', (socket) => {
      if (socket.connecting) socket.once(this.#connectedEvent, onSent);
      else onSent();
    });
    // Without a listener an error behind the head of the answer would end the process; its body rejects as well.
    request.on('error', () => undefined);
    request.end(payload);
    try {
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const seconds = Number(response.headers['retry-after']);
      return {
        status: response.statusCode ?? 0,
        retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
        text: await text(response),
      };
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `${verb} ${server}${path}: no answer: ${why}`;
      throw new KubeloomError('ERR_KUBELOOM_UNREACHABLE', message, { cause });
    }
  }
}

/**
 * Writes to an apiserver, for the load test: at most 64 requests at a time, so that a slow server makes later writes
 * wait here and not in thousands of connections. Repeats the requests that a busy server refused, after the delay that
 * the server requests.
 */
import { sleep } from '../../../base/sleep.ts';
import { isRecord } from '../../../kube/meta-shape.ts';
import { valueAt } from '../../../kube/wire-path.ts';
import { KubeStatusError } from '../../../kube/status.ts';
import type { ServerSource } from '../../../kube/server-source.ts';
import { ApiClient } from '../../../http/api-client.ts';
import type { HttpMethod } from '../../../http/http.ts';

export type WriteVerb = Exclude<HttpMethod, 'GET'>;

/** The part of an answer that the load test needs: the version of the write, and the identity of the object. */
export interface WrittenObject {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
}

const REQUESTS_MAX = 64;
const TRIES_MAX = 8;
const PATIENCE_MS = 250;
/** A server may request any delay; after a longer delay the test would seem to hang. */
const WAIT_MS_MAX = 10_000;
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** @param tries the requests that were sent, from 1 */
export function waitMsOf(retryAfterSeconds: number, tries: number): number {
  return Math.min(retryAfterSeconds * 1000 || PATIENCE_MS * tries, WAIT_MS_MAX);
}

export class ApiWriter {
  readonly #client: ApiClient;
  #requests = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(source: ServerSource) {
    this.#client = new ApiClient(source);
  }

  /**
   * @param onSent called when the request is sent, and again when it is repeated
   * @throws KubeStatusError for the server's refusal; another error when there was no answer, so that the outcome of
   *   the write is unknown
   */
  async send(
    method: WriteVerb,
    path: string,
    body?: object,
    onSent: () => void = () => {},
    signal?: AbortSignal,
  ): Promise<WrittenObject> {
    for (let tries = 1; ; tries++) {
      await this.#turn();
      try {
        onSent();
        const contentType = method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {};
        const request = { method, path, ...contentType, ...(body === undefined ? {} : { body }) };
        const metadata = valueAt(await this.#client.send(request), 'metadata');
        return isRecord(metadata) ? { metadata } : {};
      } catch (error) {
        if (!(error instanceof KubeStatusError) || !BUSY.has(error.httpStatus) || tries === TRIES_MAX)
          throw error;
        await sleep(waitMsOf(error.retryAfterSeconds, tries), signal);
      } finally {
        this.#requests--;
        this.#waiting.shift()?.();
      }
    }
  }

  /** Resolves when a further request may be sent. */
  async #turn(): Promise<void> {
    if (this.#requests >= REQUESTS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#requests++;
  }
}

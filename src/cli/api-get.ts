/**
 * One GET of an apiserver with the whole answer, for discovery and for comparing single objects. Follows no redirect,
 * because it would send the credentials to another server.
 */
import { KubeloomError } from '../base/errors.ts';
import type { GetJson } from '../kube/discovery.ts';
import type { ConnectionOptions } from '../shared/protocol.ts';
import { Http1Transport } from '../reflector/transport/http1-transport.ts';
import { statusError } from '../kube/status.ts';

const TIMEOUT_MS = 30_000;
/** Discovery documents are far smaller; a single object is at most 3 MiB on a real server. */
const BODY_BYTES_MAX = 32 * 2 ** 20;

interface Answer {
  readonly status: number;
  readonly location: string;
  readonly body: Buffer;
}

export class ApiClient {
  readonly #server: string;
  readonly #transport: Http1Transport;
  readonly #signal: AbortSignal;

  constructor(connection: ConnectionOptions, signal: AbortSignal) {
    this.#server = connection.server;
    this.#transport = new Http1Transport(connection);
    this.#signal = signal;
  }

  /** @throws an error with the code of the server's answer, or of the reason why there is none */
  async get(path: string): Promise<Buffer> {
    const url = `${this.#server}${path}`;
    const { status, location, body } = await this.#request(path, url);
    if (status === 200) return body;
    if (status < 300 || status >= 400) throw statusError(status, body.toString(), undefined, `GET ${url}`);
    throw new KubeloomError(
      'ERR_KUBELOOM_REDIRECT',
      `GET ${url} was redirected to ${location || 'nowhere'}: not followed, because the credentials would ` +
        'go there; name the right server in the kubeconfig',
    );
  }

  readonly getJson: GetJson = async (path) => {
    const body = await this.get(path);
    try {
      return JSON.parse(body.toString()) as unknown;
    } catch (cause) {
      throw new KubeloomError(
        'ERR_KUBELOOM_MALFORMED_RESPONSE',
        `GET ${this.#server}${path}: the answer is not JSON; is this a Kubernetes apiserver?`,
        { cause },
      );
    }
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport.dispose();
  }

  #request(path: string, url: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let status = 0;
      let location = '';
      let bytes = 0;
      const sink = {
        head(code: number, headers: Record<string, string>): void {
          status = code;
          location = headers['location'] ?? '';
        },
        data(chunk: Uint8Array): void {
          chunks.push(Buffer.from(chunk));
          bytes += chunk.length;
          if (bytes > BODY_BYTES_MAX) give(tooLarge(url));
        },
        end(error: KubeloomError | undefined): void {
          if (error) give(error);
          else resolve({ status, location, body: Buffer.concat(chunks) });
        },
      };
      const exchange = this.#transport.request({ path }, sink);
      const give = (error: Error): void => {
        exchange.close();
        reject(error);
      };
      const late = AbortSignal.timeout(TIMEOUT_MS);
      const ended = AbortSignal.any([this.#signal, late]);
      const onAbort = (): void => give(late.aborted ? noAnswer(url) : interrupted(url));
      if (ended.aborted) onAbort();
      else ended.addEventListener('abort', onAbort, { once: true });
    });
  }
}

function noAnswer(url: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_HTTP_TIMEOUT',
    `GET ${url}: no complete answer within ${TIMEOUT_MS / 1000} s; is the apiserver overloaded?`,
  );
}

function interrupted(url: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_INTERRUPTED', `GET ${url} was interrupted`);
}

function tooLarge(url: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_RESPONSE_TOO_LARGE',
    `GET ${url}: the answer is larger than ${BODY_BYTES_MAX} bytes; is this a Kubernetes apiserver?`,
  );
}

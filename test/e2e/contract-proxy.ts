/**
 * Plain HTTP in front of a real kube-apiserver. It records the informers' requests, and can change a query,
 * delay a request, cut an answer short, or be down. All answers are the server's own.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ControlPlane } from './control-plane.ts';

export interface ProxiedRequest {
  readonly path: string;
  /** The rule may change it before it is forwarded. */
  readonly query: URLSearchParams;
  readonly authorization: string;
  readonly isWatch: boolean;
  readonly isStreamingList: boolean;
  /** The server's status; 0 before it has answered. */
  status: number;
  isOver: boolean;
}

/** `refuse`: the connection is cut without an answer. A number: the answer is cut after this many bytes. */
export type Verdict = 'forward' | 'refuse' | number;
export type Rule = (request: ProxiedRequest, index: number) => Verdict | Promise<Verdict>;

export class RecordingProxy implements AsyncDisposable {
  readonly url: string;
  readonly requests: ProxiedRequest[] = [];
  rule: Rule = () => 'forward';
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets: Set<Socket> = new Set();
  readonly #controlPlane: ControlPlane;
  readonly #agent: Agent;
  #isDown = false;

  private constructor(server: ReturnType<typeof createServer>, controlPlane: ControlPlane) {
    this.#server = server;
    this.#controlPlane = controlPlane;
    this.#agent = new Agent({ ca: Buffer.from(controlPlane.caData, 'base64') });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (message, response) => {
      this.#serve(message, response).catch(() => message.socket.destroy());
    });
  }

  static async start(controlPlane: ControlPlane): Promise<RecordingProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new RecordingProxy(server, controlPlane);
  }

  get openRequests(): readonly ProxiedRequest[] {
    return this.requests.filter(({ isOver }) => !isOver);
  }

  /** Cuts all connections and accepts none. */
  goDown(): void {
    this.#isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  comeUp(): void {
    this.#isDown = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.goDown();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isDown) {
      message.socket.destroy();
      return;
    }
    const { pathname, searchParams } = new URL(message.url ?? '/', this.url);
    const noted: ProxiedRequest = {
      path: pathname,
      query: searchParams,
      authorization: message.headers.authorization ?? '',
      isWatch: searchParams.get('watch') === 'true',
      isStreamingList: searchParams.get('sendInitialEvents') === 'true',
      status: 0,
      isOver: false,
    };
    response.once('close', () => (noted.isOver = true));
    this.requests.push(noted);
    const verdict = await this.rule(noted, this.requests.length - 1);
    if (verdict === 'refuse') message.socket.destroy();
    else this.#forward(noted, message, response, verdict === 'forward' ? Number.POSITIVE_INFINITY : verdict);
  }

  #forward(noted: ProxiedRequest, message: IncomingMessage, response: ServerResponse, bytes: number): void {
    const { host: _host, connection: _connection, ...headers } = message.headers;
    const upstream = httpsRequest(
      `${this.#controlPlane.server}${noted.path}?${noted.query.toString()}`,
      { agent: this.#agent, headers },
      (answer) => {
        noted.status = answer.statusCode ?? 0;
        response.writeHead(noted.status, answer.headers);
        response.flushHeaders();
        let left = bytes;
        answer.on('data', (chunk: Buffer) => {
          response.write(chunk.subarray(0, Math.min(left, chunk.length)));
          left -= chunk.length;
          if (left <= 0) message.socket.end();
        });
        answer.on('end', () => response.end());
        answer.on('error', () => message.socket.destroy());
      },
    );
    upstream.on('error', () => message.socket.destroy());
    response.once('close', () => upstream.destroy());
    upstream.end();
  }
}

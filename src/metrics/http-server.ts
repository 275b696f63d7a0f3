/**
 * Small read-only HTTP servers: they begin to listen, answer GET and HEAD with texts, and end at once. None of them keeps
 * the process running.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';

/** A server of metrics or health checks. */
export interface HttpServer extends AsyncDisposable {
  /** Address with scheme and port, such as `http://127.0.0.1:9464`, or the path of a Unix socket. */
  readonly address: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Default: plain text. */
  readonly contentType?: string;
}

/** @throws the error of `listen`, such as EADDRINUSE */
export async function listen(server: Server, where: ListenOptions, scheme = 'http'): Promise<HttpServer> {
  // A connection in the middle of its TLS handshake is not yet a connection of the HTTP server.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(where);
  await once(server, 'listening');
  server.unref();
  let closed: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    if (!closed) {
      closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
    }
    await closed;
  };
  const address = where.path ?? `${scheme}://${hostAndPort(server.address() as AddressInfo)}`;
  return { address, close, [Symbol.asyncDispose]: close };
}

/** An address that stands for all addresses of the machine is shown as loopback, which reaches the server as well. */
function hostAndPort({ address, port }: AddressInfo): string {
  if (address === '::' || address === '0.0.0.0') return `127.0.0.1:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Answers a request: other methods than GET and HEAD are refused. */
export function respond({ method }: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const isRead = method === 'GET' || method === 'HEAD';
  const refused: Answer = { status: 405, body: 'only GET is answered\n' };
  const { status, body, contentType = 'text/plain; charset=utf-8' } = isRead ? answer : refused;
  const headers = {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body);
}

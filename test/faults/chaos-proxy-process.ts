/**
 * Process of a chaos proxy: forwards TCP between clients and one server on loopback, with faults. It is a separate
 * process so that a signal can stop it like a machine that hangs. It receives commands and sends events over IPC.
 */
import { createConnection, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { TLSSocket, createServer as createTlsServer } from 'node:tls';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export type Command =
  | { readonly type: 'start'; readonly target: number; readonly tls?: TlsFiles | undefined }
  | { readonly type: 'reset' }
  /** Closes all connections and refuses new ones. */
  | { readonly type: 'refuse' }
  /** Listens again, optionally with another certificate. */
  | { readonly type: 'accept'; readonly tls?: TlsFiles | undefined };
export type ProxyCommand = Command & { readonly id: number };

/** Answer to a command; the port on which the proxy listens. */
export interface ProxyEvent {
  readonly id: number;
  readonly port: number;
}

let target = 0;
let listener: Server | undefined;
let port = 0;
const clients = new Set<Socket>();

function accept(client: Socket): void {
  const upstream = createConnection({ port: target, host: '127.0.0.1', noDelay: true });
  client.setNoDelay(true);
  clients.add(client);
  for (const socket of [client, upstream]) {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clients.delete(client);
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream);
  upstream.pipe(client);
}

/** Resets the connection. Node cannot reset a TLS connection; that one ends without a TLS message. */
function cut(client: Socket): void {
  if (client instanceof TLSSocket) client.destroy();
  else client.resetAndDestroy();
}

function listen(tls?: TlsFiles): Promise<void> {
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
  listener = server;
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      port = (server.address() as { port: number }).port;
      resolve();
    });
  });
}

async function obey(command: ProxyCommand): Promise<void> {
  switch (command.type) {
    case 'start':
      target = command.target;
      await listen(command.tls);
      break;
    case 'reset':
      for (const client of clients) cut(client);
      break;
    case 'refuse':
      listener?.close();
      for (const client of clients) client.destroy();
      break;
    case 'accept':
      await listen(command.tls);
      break;
  }
  process.send?.({ id: command.id, port } satisfies ProxyEvent);
}

process.on('message', (command: ProxyCommand) => void obey(command));
process.on('disconnect', () => process.exit(0));

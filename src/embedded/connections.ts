/**
 * The raw sockets of a server, to cut one or all. A TLS socket cannot be reset itself, only the TCP socket below it.
 */

import type { Socket } from 'node:net';

export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #numbers = new WeakMap<Socket, number>();
  #count = 0;

  add(socket: Socket): void {
    this.#sockets.add(socket);
    this.#numbers.set(socket, ++this.#count);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** A TCP reset for the connection that `socket`, plain or TLS, belongs to. */
  reset(socket: Socket | null): void {
    this.#rawOf(socket)?.resetAndDestroy();
  }

  /** Which connection since the server started, from 1. */
  numberOf(socket: Socket | null): number {
    const raw = this.#rawOf(socket);
    return (raw && this.#numbers.get(raw)) ?? 0;
  }

  /** Both layers know the client's port. */
  #rawOf(socket: Socket | null): Socket | undefined {
    return [...this.#sockets].find((candidate) => candidate.remotePort === socket?.remotePort);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

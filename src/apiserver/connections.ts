/** The raw sockets of a server, in order to cut one or all. Only the TCP socket below a TLS socket can be reset. */

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

  /** Resets the TCP connection of `socket`, which is plain or TLS. */
  reset(socket: Socket | null): void {
    this.#rawOf(socket)?.resetAndDestroy();
  }

  /** Returns the number of the connection since the server started, from 1. */
  numberOf(socket: Socket | null): number {
    const raw = this.#rawOf(socket);
    return (raw && this.#numbers.get(raw)) ?? 0;
  }

  /** The TCP socket below: both layers have the same client port. */
  #rawOf(socket: Socket | null): Socket | undefined {
    return [...this.#sockets].find((candidate) => candidate.remotePort === socket?.remotePort);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * The raw sockets of a server, to cut one or all. A TLS socket cannot be reset itself, only the TCP socket below it.
 */

import type { Socket } from 'node:net';

export class Connections {
  readonly #sockets = new Set<Socket>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** A TCP reset for the connection that `socket`, plain or TLS, belongs to. */
  reset(socket: Socket | null): void {
    // Both layers know the client's port.
    const raw = [...this.#sockets].find((candidate) => candidate.remotePort === socket?.remotePort);
    raw?.resetAndDestroy();
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

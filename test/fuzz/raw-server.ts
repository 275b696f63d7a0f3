/** A server on a socket that answers each request with given bytes, and then ends or stays silent. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface RawAnswer {
  readonly pieces: readonly (string | Buffer)[];
  readonly ending: 'end' | 'cut' | 'silence';
}

export class RawServer {
  readonly url: string;
  /** Receives the first line of the request. */
  answer: (line: string) => RawAnswer = () => ({ pieces: [], ending: 'end' });
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(): Promise<RawServer> {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
      socket.once('data', (request) => void raw.#reply(socket, request.toString('latin1')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const raw = new RawServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    return raw;
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #reply(socket: Socket, request: string): Promise<void> {
    const { pieces, ending } = this.answer(request.split('\r\n', 1)[0] ?? '');
    for (const piece of pieces) {
      socket.write(piece);
      // Most pieces arrive alone.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') socket.end();
    else if (ending === 'cut') socket.destroy();
  }
}

/** A server that answers with the exact bytes that a test gives it. */
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenOnLoopback } from './recording-sink.ts';

/** Answers the n-th request of the n-th connection with the given bytes; counts connections and requests. */
export class Scripted {
  readonly server: Server;
  readonly requests: string[] = [];
  readonly sockets: Socket[] = [];

  constructor(answer: (request: number, connection: number, socket: Socket) => string | undefined) {
    this.server = createServer((socket) => {
      const connection = this.sockets.push(socket.on('error', () => undefined));
      let text = '';
      socket.setEncoding('latin1').on('data', (data: string) => {
        text += data;
        if (!text.endsWith('\r\n\r\n')) return;
        const request = this.requests.push(text);
        text = '';
        const bytes = answer(request, connection, socket);
        if (bytes !== undefined) socket.write(bytes, 'latin1');
      });
    });
  }

  async listen(context: TestContext): Promise<string> {
    const address = await listenOnLoopback(context, this.server);
    context.after(() => this.sockets.forEach((socket) => socket.destroy()));
    return `http://${address}`;
  }
}

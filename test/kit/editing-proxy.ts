/**
 * Plain HTTP in front of an apiserver, for clients that must not notice it: it forwards every request and answer,
 * counts them, and can edit the lines of a watch. The edits are the faults that a load test must find.
 */
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import type { AddressInfo, Server } from 'node:net';

export interface EditingProxyTarget {
  /** https://127.0.0.1:PORT */
  readonly server: string;
  /** The certificate authority in base64; undefined for plain HTTP. */
  readonly caData?: string | undefined;
  readonly token: string;
}

/** Returns the lines that the client receives instead of a line of the watch. */
export type Edit = (line: string) => readonly string[];

export class EditingProxy implements AsyncDisposable {
  /** Requests in their order, as `GET /api/v1/namespaces`. */
  readonly requests: string[] = [];
  /** Called before a request is forwarded. */
  onRequest: (request: string) => void = () => {};
  /** Makes the edit of the watch with this number, from 0; undefined: it is forwarded as it is. */
  editOf: (watch: number) => Edit | undefined = () => undefined;
  readonly #target: EditingProxyTarget;
  readonly #server: Server;
  #watches = 0;

  private constructor(target: EditingProxyTarget) {
    this.#target = target;
    this.#server = createServer((message, response) => this.#forward(message, response));
  }

  static async start(target: EditingProxyTarget): Promise<EditingProxy> {
    const proxy = new EditingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** A kubeconfig of a throwaway cluster behind this proxy, as text. */
  get kubeConfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'kind-proxy',
      // client-node refuses plain HTTP without this member.
      clusters: [
        {
          name: 'proxy',
          cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
        },
      ],
      users: [{ name: 'proxy', user: { token: this.#target.token } }],
      contexts: [{ name: 'kind-proxy', context: { cluster: 'proxy', user: 'proxy' } }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    (this.#server as ReturnType<typeof createServer>).closeAllConnections();
    await closed;
  }

  #forward(message: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = message;
    const { host: _host, connection: _connection, 'accept-encoding': _encoding, ...kept } = headers;
    const name = `${method} ${url}`;
    this.requests.push(name);
    this.onRequest(name);
    const edit = /[?&]watch=(?:true|1)/.test(url) ? this.editOf(this.#watches++) : undefined;
    const { server, caData } = this.#target;
    const isTls = server.startsWith('https:');
    const ca = caData === undefined ? undefined : Buffer.from(caData, 'base64');
    const request = isTls ? httpsRequest : httpRequest;
    const upstream = request(`${server}${url}`, { method, headers: kept, ...(isTls ? { ca } : {}) });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      response.flushHeaders();
      answer.on('error', () => message.socket.destroy());
      if (edit === undefined) answer.pipe(response);
      else editLines(answer, edit, response);
    });
    upstream.on('error', () => message.socket.destroy());
    response.once('close', () => upstream.destroy());
    message.pipe(upstream);
  }
}

function editLines(answer: IncomingMessage, edit: Edit, response: ServerResponse): void {
  const lines = createInterface({ input: answer });
  lines.on('line', (line) => {
    for (const each of edit(line)) response.write(`${each}\n`);
  });
  lines.on('close', () => response.end());
  // The client or the server is gone: the answer ends in either case.
  lines.on('error', () => response.destroy());
}

/** Edits begin with the third update, after a first state within the watch. */
const EDITED_FROM = 3;

const isUpdate = (line: string): boolean => line.startsWith('{"type":"MODIFIED"');

/** Drops the third update. */
export function droppingOne(): Edit {
  let updates = 0;
  return (line) => (isUpdate(line) && ++updates === EDITED_FROM ? [] : [line]);
}

/** Sends the third update twice. */
export function doublingOne(): Edit {
  let updates = 0;
  return (line) => (isUpdate(line) && ++updates === EDITED_FROM ? [line, line] : [line]);
}

/** Holds the third update back until another object's update was sent. */
export function reorderingTwo(): Edit {
  let updates = 0;
  let held: string | undefined;
  return (line) => {
    if (!isUpdate(line)) return [line];
    if (++updates === EDITED_FROM) {
      held = line;
      return [];
    }
    if (held === undefined) return [line];
    const earlier = held;
    // Two updates of the same object in the wrong order are another fault: the later update hides the earlier update.
    const isSameObject = nameIn(earlier) === nameIn(line);
    held = isSameObject ? line : undefined;
    return isSameObject ? [earlier] : [line, earlier];
  };
}

function nameIn(line: string): string | undefined {
  return /"name":"(?<name>[^"]*)"/.exec(line)?.groups?.['name'];
}

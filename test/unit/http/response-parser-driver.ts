/**
 * Feeds a response to the parser in pieces, as a connection does: every piece in separate memory that is
 * overwritten afterwards. node:http reads the same bytes as a reference.
 */
import { Agent, request } from 'node:http';
import { Duplex } from 'node:stream';
import { ResponseParser } from '../../../src/http/response-parser.ts';

export interface ReadResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `torn`: the bytes ended before the response; otherwise the code of the error. */
  readonly outcome: 'complete' | 'torn' | (string & {});
  /** The number of bytes after the response. */
  readonly surplus: number;
  readonly isReusable: boolean;
}

/** @param cuts the end of each read, ascending */
export function readResponse(response: Buffer, cuts: readonly number[] = []): ReadResponse {
  const parser = new ResponseParser();
  const pieces: Buffer[] = [];
  let status = 0;
  let headers: Readonly<Record<string, string>> = {};
  let taken = 0;
  for (const [index, start] of [0, ...cuts].entries()) {
    const bytes = Buffer.from(response.subarray(start, cuts[index] ?? response.length));
    let at = 0;
    if (parser.isInHead) {
      at = parser.readHead(bytes, 0, bytes.length, (head) => {
        ({ status, headers } = head);
      });
    }
    at = parser.readBody(bytes, at, bytes.length);
    pieces.push(Buffer.from(bytes.subarray(parser.dataStart, parser.dataEnd)));
    bytes.fill(0);
    taken += at;
    if (at < bytes.length) break;
  }
  const isComplete = parser.finish();
  const outcome = parser.failure ?? (isComplete ? 'complete' : 'torn');
  const surplus = isComplete ? response.length - taken : 0;
  const body = Buffer.concat(pieces).toString('latin1');
  return { status, headers, body, outcome, surplus, isReusable: parser.isReusable };
}

/** An agent that returns an existing connection. */
class AgentOf extends Agent {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
  }

  override createConnection(): Duplex {
    return this.#socket;
  }
}

/** Returns status, headers and body as node:http reads them, or the error's code. */
export async function readByNode(response: Buffer): Promise<Omit<ReadResponse, 'surplus' | 'isReusable'>> {
  const socket = new Duplex({
    read: () => undefined,
    write: (_bytes, _encoding, done) => done(),
  });
  return new Promise((resolve) => {
    const failed = (error: Error): void =>
      resolve({ status: 0, headers: {}, body: '', outcome: 'code' in error ? String(error.code) : 'torn' });
    const sent = request({ agent: new AgentOf(socket) }, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('error', failed);
      message.on('end', () =>
        resolve({
          status: message.statusCode ?? 0,
          headers: flattened(message.rawHeaders),
          body: Buffer.concat(chunks).toString('latin1'),
          outcome: 'complete',
        }),
      );
    });
    sent.on('error', failed);
    sent.end();
    socket.push(response);
    socket.push(null);
  });
}

function flattened(rawHeaders: readonly string[]): Record<string, string> {
  const flat: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    const before = flat[name];
    flat[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return flat;
}

/**
 * The way through an HTTP proxy: a CONNECT (RFC 9110, 9.3.6); after the answer the socket is the server's.
 * Only the proxy reads this request, and it cannot read what follows.
 */
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyFailure } from './http-errors.ts';
import { HeadReader } from './response-parser-head.ts';
import { serverIdentityError } from './server-address.ts';
import type { ProxyAddress } from './server-address.ts';

const MULTIPLE_CHOICES = 300;
const OK = 200;

export interface OnRead {
  readonly buffer: Buffer;
  readonly callback: (length: number, bytes: Uint8Array) => boolean;
}

/** Opens a connection to the proxy itself. It is ready at `readyEvent`. */
export function connectToProxy({ host, port, isTls }: ProxyAddress, onread?: OnRead): Socket {
  const options = { host, port, autoSelectFamily: true, ...(onread ? { onread } : {}) };
  if (!isTls) return connectTcp(options);
  return connectTls({
    ...options,
    // Always set: NODE_TLS_REJECT_UNAUTHORIZED must not switch verification off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    checkServerIdentity: (_host, certificate) => serverIdentityError(host, certificate),
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
}

/**
 * Asks the proxy at the other end of `socket` for a tunnel to the server.
 *
 * @param authority `host:6443`
 * @param through called once, when the next byte is the server's
 */
export function openTunnel(
  socket: Socket,
  proxy: ProxyAddress,
  authority: string,
  through: () => void,
  failed: (failure: ProxyFailure) => void,
): void {
  const lines = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`, 'user-agent: kubeloom'];
  if (proxy.authorization !== undefined) lines.push(`proxy-authorization: ${proxy.authorization}`);
  const reader = new HeadReader();
  const read = (bytes: Buffer): void => {
    const answer = answerOf(reader, bytes);
    if (answer === 'more') return;
    socket.off('data', read);
    if (answer === 'through') {
      socket.pause();
      through();
    } else {
      const status = typeof answer === 'number' ? answer : 0;
      failed(new ProxyFailure(proxy.origin, status, status > 0 ? `HTTP_PROXY_${status}` : String(answer)));
    }
  };
  socket.on('data', read);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** @returns the status of a refusal, or a code for a malformed answer */
function answerOf(reader: HeadReader, bytes: Buffer): 'through' | 'more' | number | `HTTP_${string}` {
  let at = 0;
  while (at < bytes.length) {
    const read = reader.read(bytes, at, bytes.length);
    if (typeof read === 'string') return read;
    at = read;
    if (!reader.isComplete) return 'more';
    const head = reader.take();
    if (typeof head === 'string') return head;
    if (head.status < OK) continue;
    if (head.status >= MULTIPLE_CHOICES) return head.status;
    // The client sends first, so these bytes are an error.
    return at === bytes.length ? 'through' : 'HTTP_PROXY_SURPLUS';
  }
  return 'more';
}

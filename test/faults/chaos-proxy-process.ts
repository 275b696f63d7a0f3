/**
 * Process of a chaos proxy: forwards TCP between clients and one server on loopback, with faults. It is a separate
 * process so that a signal can stop it like a machine that hangs. It receives commands and sends events over IPC.
 */
import { createConnection, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { TLSSocket, createServer as createTlsServer } from 'node:tls';

/** Treatment of the bytes for the client. */
export type Mode =
  | { readonly kind: 'pass' }
  /** Keeps the bytes until the mode is `pass` again. */
  | { readonly kind: 'hang' }
  /** Drops the bytes without an error: a half-open connection, which is reset when the mode is `pass` again. */
  | { readonly kind: 'drop' }
  /** Sends this number of bytes at a time. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Splits the bytes into writes of this length. */
  | { readonly kind: 'split'; readonly bytes: number }
  /** Sends nothing before the first event, like proxies that wait for a body before they pass on a head. */
  | { readonly kind: 'withhold' }
  /** Cuts the next chunk in the middle by a reset; then `pass`. */
  | { readonly kind: 'reset-mid-event' }
  /** Answers with frames of HTTP/2. */
  | { readonly kind: 'http2' };

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export type Command =
  | { readonly type: 'start'; readonly target: number; readonly tls?: TlsFiles | undefined }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'reset' }
  /** Closes all connections and refuses new ones. */
  | { readonly type: 'refuse' }
  /** Listens again, optionally with another certificate. */
  | { readonly type: 'accept'; readonly tls?: TlsFiles | undefined };
export type ProxyCommand = Command & { readonly id: number };

export type ProxyEvent =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'accepted'; readonly atMs: number }
  | { readonly type: 'landed'; readonly what: string; readonly detail: string; readonly atMs: number }
  | { readonly type: 'failed'; readonly message: string };

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Bytes for the client that the mode holds back. */
  held: Buffer[];
  /** Whether bytes for the client were lost; TCP delivers nothing after a gap. */
  hasGap: boolean;
  timer: NodeJS.Timeout | undefined;
}

const FIRST_EVENT = Buffer.from('"type":');
/** A frame of HTTP/2: empty SETTINGS. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const SETTINGS_COUNT = 100_000;

let mode: Mode = { kind: 'pass' };
let target = 0;
let listener: Server | undefined;
let port = 0;
const pairs = new Set<Pair>();

function tell(event: ProxyEvent): void {
  process.send?.(event);
}

function landed(what: string, detail: string): void {
  tell({ type: 'landed', what, detail, atMs: performance.timeOrigin + performance.now() });
}

function accept(client: Socket): void {
  tell({ type: 'accepted', atMs: performance.timeOrigin + performance.now() });
  client.on('error', () => undefined);
  if (mode.kind === 'http2') {
    landed('http2', `${SETTINGS_COUNT} SETTINGS frames`);
    client.write(Buffer.concat(Array.from({ length: SETTINGS_COUNT }, () => SETTINGS)));
    return;
  }
  const upstream = createConnection({ port: target, host: '127.0.0.1', noDelay: true });
  client.setNoDelay?.(true);
  const pair: Pair = { client, upstream, held: [], hasGap: false, timer: undefined };
  pairs.add(pair);
  upstream.on('error', () => undefined);
  client.on('data', (chunk: Buffer) => upstream.write(chunk));
  upstream.on('data', (chunk: Buffer) => downstream(pair, chunk));
  const close = (): void => {
    pairs.delete(pair);
    clearInterval(pair.timer);
    client.destroy();
    upstream.destroy();
  };
  client.on('close', close);
  upstream.on('close', () => {
    // Bytes that are held back are still on their way.
    if (pair.held.length === 0) close();
  });
}

function downstream(pair: Pair, chunk: Buffer): void {
  pair.hasGap ||= mode.kind === 'drop';
  if (pair.hasGap) {
    landed('drop', `${chunk.length} bytes`);
    return;
  }
  switch (mode.kind) {
    case 'hang':
      pair.held.push(chunk);
      landed('hang', `${chunk.length} bytes held`);
      return;
    case 'drip':
      pair.held.push(chunk);
      drip(pair, mode.bytes, mode.everyMs);
      return;
    case 'split':
      landed('split', `${chunk.length} bytes by ${mode.bytes}`);
      for (let at = 0; at < chunk.length; at += mode.bytes)
        pair.client.write(chunk.subarray(at, at + mode.bytes));
      return;
    case 'withhold':
      pair.held.push(chunk);
      if (chunk.includes(FIRST_EVENT)) release(pair);
      else landed('withhold', `${chunk.length} bytes until an event`);
      return;
    case 'reset-mid-event':
      pair.client.write(chunk.subarray(0, Math.max(1, chunk.length >> 1)), () => {
        landed('reset', `after ${chunk.length >> 1} of ${chunk.length} bytes`);
        cut(pair.client);
      });
      mode = { kind: 'pass' };
      return;
    default:
      pair.client.write(chunk);
  }
}

function drip(pair: Pair, bytes: number, everyMs: number): void {
  landed('drip', `${bytes} bytes every ${everyMs} ms`);
  pair.timer ??= setInterval(() => {
    const all = Buffer.concat(pair.held);
    pair.held = all.length > bytes ? [all.subarray(bytes)] : [];
    if (all.length > 0) pair.client.write(all.subarray(0, bytes));
  }, everyMs);
}

/** Resets the connection. Node cannot reset a TLS connection; that one ends without a TLS message. */
function cut(client: Socket): void {
  if (client instanceof TLSSocket) client.destroy();
  else client.resetAndDestroy();
}

function reset(some: readonly Pair[]): void {
  if (some.length > 0) landed('reset', `${some.length} connections`);
  for (const { client } of some) cut(client);
}

function release(pair: Pair): void {
  clearInterval(pair.timer);
  pair.timer = undefined;
  if (pair.held.length > 0) pair.client.write(Buffer.concat(pair.held));
  pair.held = [];
}

function listen(tls?: { cert: string; key: string }): Promise<void> {
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
  listener = server;
  server.on('error', (error) => tell({ type: 'failed', message: String(error) }));
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
      tell({ type: 'listening', port });
      return;
    case 'mode':
      mode = command.mode;
      if (mode.kind === 'pass') {
        for (const pair of pairs) release(pair);
        reset([...pairs].filter(({ hasGap }) => hasGap));
      }
      break;
    case 'reset':
      reset([...pairs]);
      break;
    case 'refuse':
      listener?.close();
      landed('refuse', `${pairs.size} connections`);
      for (const { client } of pairs) client.destroy();
      break;
    case 'accept':
      await listen(command.tls);
      break;
  }
  tell({ type: 'done', id: command.id });
}

process.on('message', (command: ProxyCommand) => void obey(command));
process.on('disconnect', () => process.exit(0));

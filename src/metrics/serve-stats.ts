/**
 * A read-only HTTP server on this machine for a scraper and for `kubeloom top`: `GET /metrics` in Prometheus' text
 * format, `GET /stats.json` with the last errors. It does not keep the process running.
 */
import { once } from 'node:events';
import { chmod, lstat, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { isLoopbackHost } from '../base/loopback.ts';
import { integer, invalidOption, text, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { listen, respond } from './http-server.ts';
import type { Answer, HttpServer } from './http-server.ts';
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus-text.ts';
import { statsSnapshot } from './snapshot.ts';

/** Options of the server of statistics. */
export interface ServeStatsOptions {
  /** Port on 127.0.0.1; 0: a free port. Either this or `socketPath`. */
  readonly port?: number;
  /** Path of a Unix socket, for this user only (mode 600). The socket of a process that was killed is replaced. */
  readonly socketPath?: string;
}

const OWNER_ONLY = 0o600;

const CHECKS: OptionChecks<ServeStatsOptions> = { port: integer(0, 65_535), socketPath: text };

/**
 * Serves the metrics of this process until it is closed. Figures contain names of resources, handlers and servers, and
 * no objects.
 *
 * @throws ERR_KUBELOOM_OPTION; the error of `listen`, such as EADDRINUSE
 */
export async function serveStats(options: ServeStatsOptions): Promise<HttpServer> {
  checkOptions('options of serveStats', options, CHECKS);
  const { port, socketPath } = options;
  if ((port === undefined) === (socketPath === undefined)) {
    invalidOption('options of serveStats', options, 'either a port or a socketPath');
  }
  // Loaded when it is needed: most programs that import kubeloom serve no figures.
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => respond(request, response, answer(request)));
  if (socketPath !== undefined) await removeDeadSocket(socketPath);
  const where = socketPath === undefined ? { host: '127.0.0.1', port } : { path: socketPath };
  const listening = await listen(server, where);
  if (socketPath !== undefined) await chmod(socketPath, OWNER_ONLY);
  return listening;
}

/** Removes the socket of a process that was killed; a socket on which a process listens, and any other file, stay. */
async function removeDeadSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') await rm(path);
  } finally {
    socket.destroy();
  }
}

function answer(request: IncomingMessage): Answer {
  const { url, headers, socket } = request;
  // A web page may make a browser ask this address by another name; over a socket file there is no name to check.
  const isLocal = socket.localAddress === undefined || isLoopbackHost(hostOf(headers.host ?? ''));
  if (!isLocal) return { status: 403, body: 'only requests to localhost are answered\n' };
  if (url === '/metrics')
    return { status: 200, contentType: PROMETHEUS_CONTENT_TYPE, body: prometheusText() };
  if (url === '/stats.json')
    return { status: 200, contentType: 'application/json', body: JSON.stringify(statsSnapshot()) };
  return { status: 404, body: 'here are /metrics and /stats.json\n' };
}

function hostOf(header: string): string {
  return header.replace(/:\d+$/, '');
}

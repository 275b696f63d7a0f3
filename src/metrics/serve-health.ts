/**
 * The HTTP server of a pod for the kubelet and Prometheus: `/healthz`, `/readyz` and `/metrics`. In controller-runtime:
 * the health probe and metrics servers of a manager.
 */
import type { RequestListener, Server } from 'node:http';
import { backgroundClock, scheduleEvery } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf, withCode } from '../base/errors.ts';
import { aLogger, loggerWith, warnIn } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import {
  callback,
  clock as aClock,
  having,
  integer,
  invalidOption,
  text,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { CertificateFiles } from './certificate-files.ts';
import type { TlsFiles } from './certificate-files.ts';
import { HealthChecks, NotReadyYet } from './health-checks.ts';
import type { HealthCheck } from './health-checks.ts';
import { listen, respond } from './http-server.ts';
import type { Answer, HttpServer } from './http-server.ts';
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus-text.ts';

/** The part of an informer that the checks need; every informer has it. */
export interface CheckedInformer {
  /** Name in the log line of a failed check. */
  readonly name: string;
  /** Returns whether the first list is in the cache: `/readyz` fails until it is. */
  hasSynced(): boolean;
  /** Returns whether the informer stopped: `/healthz` fails after that. */
  isStopped(): boolean;
}

/** Options of the server of health checks. */
export interface ServeHealthOptions {
  /** 0: a free port. */
  readonly port: number;
  /** Address to listen on. Default: all addresses, because the kubelet asks the address of the pod. */
  readonly host?: string;
  /** HTTPS with this certificate. The files are read again every 10 s. Default: HTTP. */
  readonly tls?: TlsFiles;
  /**
   * Informers, or an object that has them: a factory, an InformersMap. `/readyz` fails until there are some and all have
   * synced (check `caches`), and `/healthz` when one of them has ended (check `informers`).
   */
  readonly informers?: Iterable<CheckedInformer> | { readonly informers: Iterable<CheckedInformer> };
  /** Fails both paths while work goes on without the leadership (check `leader-election`). */
  readonly leaderElector?: { isHealthy(): boolean };
  /** Your own checks of `/healthz` by name: the kubelet restarts a container that fails them. */
  readonly healthz?: Readonly<Record<string, HealthCheck>>;
  /** Your own checks of `/readyz` by name: a pod that fails them receives no traffic. */
  readonly readyz?: Readonly<Record<string, HealthCheck>>;
  /** Time for each check, after which it fails. Default: 900, because the kubelet waits for 1 s by default. */
  readonly checkTimeoutMs?: number;
  /** Returns the text of `/metrics`. Default: `prometheusText`. */
  readonly metrics?: () => string | Promise<string>;
  /** Receives why checks fail, when that changes. Default: a check that throws is a process warning. */
  readonly log?: Logger;
  /** Clock of time limits. Default: the real clock. */
  readonly clock?: Clock;
}

const CHECK_TIMEOUT_MS = 900;
const CERTIFICATE_INTERVAL_MS = 10_000;
/** Names of the checks of kubeloom itself. */
const OWN_CHECKS: readonly string[] = ['ping', 'informers', 'caches', 'leader-election', 'shutdown'];

const TLS_CHECKS: OptionChecks<TlsFiles> = { certFile: text, keyFile: text };

export const HEALTH_CHECKS: OptionChecks<ServeHealthOptions> = {
  port: integer(0, 65_535),
  host: text,
  tls: checkTls,
  informers: (name, value) => {
    if (typeof value !== 'object' || value === null || !isIterable(informersIn(value)))
      invalidOption(name, value, 'informers, or an object that has them');
  },
  leaderElector: having('a leader elector with isHealthy()', 'isHealthy'),
  healthz: checkChecks,
  readyz: checkChecks,
  checkTimeoutMs: integer(1, 2 ** 31 - 1),
  metrics: callback,
  log: aLogger,
  clock: aClock,
};

/**
 * Serves the checks and metrics of this process until the server is closed. `/healthz` and `/readyz` answer 200 `ok`, or 503 with
 * the names of the checks that fail; `?verbose` names all checks, `?exclude=NAME` leaves a check out, and
 * `/readyz/NAME` asks one. No answer has the reason of a failure.
 *
 * @throws ERR_KUBELOOM_OPTION, also for files that hold no certificate; the error of `listen`, such as EADDRINUSE
 */
export async function serveHealth(options: ServeHealthOptions): Promise<HttpServer> {
  checkOptions('options of serveHealth', options, HEALTH_CHECKS);
  if (options.port === undefined) invalidOption('port', options.port, 'given');
  return await serveHealthWith(options, {});
}

/** @internal Serves with checks of kubeloom's own on `/readyz`. @param options checked */
export async function serveHealthWith(
  options: ServeHealthOptions,
  ownReadiness: Readonly<Record<string, HealthCheck>>,
): Promise<HttpServer> {
  const { port, host, tls, clock = backgroundClock } = options;
  const log = options.log && loggerWith(options.log);
  const closing = new AbortController();
  const answers = answersOf(options, log, ownReadiness, closing.signal);
  const onRequest: RequestListener = (request, response) => {
    void answers(request.url ?? '')
      .catch((error: unknown) => unanswered(log, withCode(error)))
      .then((answer) => respond(request, response, answer));
  };
  const secure = tls && (await secureServer(tls, onRequest));
  const server = secure?.server ?? (await import('node:http')).createServer(onRequest);
  const where = host === undefined ? { port } : { port, host };
  const listening = await listen(server, where, secure ? 'https' : 'http');
  const stopReading = secure
    ? scheduleEvery(clock, CERTIFICATE_INTERVAL_MS, () => void reload(secure, log))
    : (): void => undefined;
  const close = async (): Promise<void> => {
    stopReading();
    closing.abort();
    await listening.close();
  };
  return { address: listening.address, close, [Symbol.asyncDispose]: close };
}

/** Returns the function that answers a path. */
function answersOf(
  options: ServeHealthOptions,
  log: Logger | undefined,
  ownReadiness: Readonly<Record<string, HealthCheck>>,
  closed: AbortSignal,
): (url: string) => Promise<Answer> {
  const { checkTimeoutMs = CHECK_TIMEOUT_MS, clock = backgroundClock } = options;
  const { metrics = prometheusText } = options;
  const parts = { limitMs: checkTimeoutMs, clock, log, closed };
  const paths = new Map([
    ['healthz', new HealthChecks('healthz', livenessChecks(options), parts)],
    ['readyz', new HealthChecks('readyz', { ...readinessChecks(options), ...ownReadiness }, parts)],
  ]);
  return async (url) => {
    const elsewhere: Answer = { status: 404, body: 'here are /healthz, /readyz and /metrics\n' };
    if (!URL.canParse(url, 'http://health')) return elsewhere;
    const { pathname, searchParams } = new URL(url, 'http://health');
    if (pathname === '/metrics') return await metricsAnswer(metrics, log);
    const [, path = '', name, more] = pathname.split('/');
    const checks = more === undefined ? paths.get(path) : undefined;
    if (!checks) return elsewhere;
    return name === undefined ? await checks.all(searchParams) : await checks.one(name);
  };
}

async function metricsAnswer(
  metrics: () => string | Promise<string>,
  log: Logger | undefined,
): Promise<Answer> {
  try {
    const body: unknown = await metrics();
    text('the result of metrics', body);
    return { status: 200, contentType: PROMETHEUS_CONTENT_TYPE, body: String(body) };
  } catch (cause) {
    const message = `metrics threw: ${firstLineOf(cause)}`;
    return unanswered(log, new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }));
  }
}

function unanswered(log: Logger | undefined, error: KubeloomError): Answer {
  warnIn(log, error);
  return { status: 500, body: 'there is no answer: see the log of the program\n' };
}

function livenessChecks(options: ServeHealthOptions): Readonly<Record<string, HealthCheck>> {
  const { informers, healthz = {} } = options;
  const ended = (): void => {
    const names = namesOf(informers, (informer) => informer.isStopped());
    if (names !== '') throw new NotReadyYet(`ended: ${names}`);
  };
  return { ping: () => true, ...(informers ? { informers: ended } : {}), ...election(options), ...healthz };
}

function readinessChecks(options: ServeHealthOptions): Readonly<Record<string, HealthCheck>> {
  const { informers, readyz = {} } = options;
  const filled = (): void => {
    if (allOf(informers).length === 0) throw new NotReadyYet('there are no informers yet');
    const names = namesOf(informers, (informer) => !informer.hasSynced());
    if (names !== '') throw new NotReadyYet(`not synced: ${names}`);
  };
  return { ping: () => true, ...(informers ? { caches: filled } : {}), ...election(options), ...readyz };
}

function election({ leaderElector }: ServeHealthOptions): Readonly<Record<string, HealthCheck>> {
  return leaderElector ? { 'leader-election': () => leaderElector.isHealthy() } : {};
}

function namesOf(
  informers: ServeHealthOptions['informers'],
  isWanted: (informer: CheckedInformer) => boolean,
): string {
  return allOf(informers)
    .filter(isWanted)
    .map(({ name }) => name)
    .join(', ');
}

/** Asked for each request: a factory may have more informers later. */
function allOf(informers: ServeHealthOptions['informers']): readonly CheckedInformer[] {
  return [...(informersIn(informers ?? []) as Iterable<CheckedInformer>)];
}

function informersIn(value: object): unknown {
  return isIterable(value) ? value : Reflect.get(value, 'informers');
}

function isIterable(value: unknown): boolean {
  return typeof Object(value)[Symbol.iterator] === 'function';
}

interface SecureServer {
  readonly server: Server;
  /** Reads the files again. @throws ERR_KUBELOOM_CREDENTIALS_KEPT */
  reload(): Promise<void>;
}

async function secureServer(files: TlsFiles, onRequest: RequestListener): Promise<SecureServer> {
  const [{ createServer }, { createSecureContext }] = await Promise.all([
    import('node:https'),
    import('node:tls'),
  ]);
  const certificates = new CertificateFiles(files, createSecureContext);
  const server = createServer(await certificates.first(), onRequest);
  return {
    server,
    reload: async () => {
      const pair = await certificates.changed();
      if (pair) server.setSecureContext(pair);
    },
  };
}

async function reload(server: SecureServer, log: Logger | undefined): Promise<void> {
  await server.reload().catch((error: unknown) => warnIn(log, withCode(error)));
}

function checkTls(name: string, value: unknown): void {
  checkOptions(name, value, TLS_CHECKS, `${name}.`);
  for (const file of ['certFile', 'keyFile'])
    if (Reflect.get(Object(value), file) === undefined) invalidOption(`${name}.${file}`, undefined, 'given');
}

function checkChecks(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    invalidOption(name, value, 'functions by name');
  for (const [check, call] of Object.entries(value)) {
    callback(`${name}.${check}`, call);
    if (!/^[\w.-]+$/.test(check))
      invalidOption(`name of a check of ${name}`, check, 'letters, digits, - and .');
    if (OWN_CHECKS.includes(check))
      invalidOption(`name of a check of ${name}`, check, `none of ${OWN_CHECKS.join(', ')}`);
  }
}

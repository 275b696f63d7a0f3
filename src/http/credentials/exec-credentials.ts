/**
 * Credentials from a plugin of the kubeconfig (`exec`), as in client-go. The plugin runs when there are
 * none, when they have expired, and when the server refused them; never for every request, never twice
 * at the same time. (client-node runs it for every request when the plugin names no expiry.)
 */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import { parseJson } from '../../base/parse-json.ts';
import { isToken } from '../../kube/confirm-usable.ts';
import type { KubeConfigCluster } from '../../kube/confirm-usable.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { requireCommand } from '../../kube/plugin-policy.ts';
import type { CredentialPluginPolicy } from '../../kube/plugin-policy.ts';
import { runPlugin } from './plugin-process.ts';
import type { PluginOutcome } from './plugin-process.ts';
import { readSmallFile } from './read-file.ts';
import { secureContextOf } from '../server-address.ts';

/** The members of a user's `exec` that are used here; confirm-usable.ts checked them. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value?: string | null }[] | null;
  readonly installHint?: string;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /**
   * Milliseconds since 1970; Infinity when the plugin names no expiry: they are used until the server
   * refuses them.
   */
  readonly expiresAt: number;
}

/** The time limit of a plugin. It may call a cloud service; it cannot ask a person. */
const RUN_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

const WHY_NOT_SHOWN = 'not shown because they may hold secrets: run it yourself';

/**
 * The runs by the plugin's entry in the kubeconfig and by what the plugin receives: informers of the same KubeConfig share a run,
 * and clusters of which the plugin is informed share none.
 */
const remembered = new WeakMap<ExecPlugin, Map<string, ExecCredentials>>();

export interface ExecRequest {
  readonly cluster: KubeConfigCluster;
  /** Returns whether the server refused these credentials: the plugin must give others. */
  readonly isUnauthorized: (credential: ExecCredential) => boolean;
  readonly policy: CredentialPluginPolicy;
  /** Aborts the wait; terminates the plugin when no other request waits for it. */
  readonly signal: AbortSignal;
  /** The clock of the time limit. Default: the real clock. */
  readonly clock?: Clock;
}

/**
 * @throws ERR_KUBELOOM_PLUGIN_REFUSED when the policy forbids it, ERR_KUBELOOM_CREDENTIALS when it gives
 *   none
 */
export async function execCredential(plugin: ExecPlugin, request: ExecRequest): Promise<ExecCredential> {
  const command = allowedCommand(plugin, request.policy);
  const info = execInfo(plugin, request.cluster);
  const known = remembered.get(plugin) ?? new Map<string, ExecCredentials>();
  remembered.set(plugin, known);
  const credentials = known.get(info) ?? new ExecCredentials(plugin, info);
  known.set(info, credentials);
  return credentials.current(command, request);
}

interface Run {
  readonly credential: Promise<ExecCredential>;
  readonly abort: AbortController;
  waiting: number;
}

class ExecCredentials {
  readonly #plugin: ExecPlugin;
  /** The variable from which the plugin reads the version of the protocol and the cluster. */
  readonly #info: string;
  #last: ExecCredential | undefined;
  #run: Run | undefined;

  constructor(plugin: ExecPlugin, info: string) {
    this.#plugin = plugin;
    this.#info = info;
  }

  async current(command: string, request: ExecRequest): Promise<ExecCredential> {
    const last = this.#last;
    if (last && last.expiresAt > Date.now() && !request.isUnauthorized(last)) return last;
    request.signal.throwIfAborted();
    const run = (this.#run ??= this.#start(command, request));
    run.waiting++;
    try {
      return await untilAborted(run.credential, request.signal, this.#plugin);
    } finally {
      run.waiting--;
      if (run.waiting === 0) {
        // The next request starts another run.
        if (this.#run === run) this.#run = undefined;
        run.abort.abort();
      }
    }
  }

  #start(command: string, request: ExecRequest): Run {
    const abort = new AbortController();
    const credential = this.#renew(command, request, abort.signal);
    // A request that stopped waiting ignores the result.
    credential.catch(() => undefined);
    return { credential, abort, waiting: 0 };
  }

  async #renew(command: string, request: ExecRequest, signal: AbortSignal): Promise<ExecCredential> {
    const { clock = realClock } = request;
    const { args, env: variables } = this.#plugin;
    const added = Object.fromEntries((variables ?? []).map(({ name, value }) => [name, value ?? '']));
    // Last: the kubeconfig's own variables cannot replace it.
    const env = { ...process.env, ...added, KUBERNETES_EXEC_INFO: this.#info };
    const limits = { timeoutMs: RUN_MS_MAX, outputBytesMax: OUTPUT_BYTES_MAX };
    const outcome = await runPlugin({ command, args: args ?? [], env, clock, signal, ...limits });
    if (outcome.kind !== 'done') throw failed(explain(outcome, this.#plugin));
    this.#last = parse(outcome.output, this.#plugin);
    return this.#last;
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, { command }: ExecPlugin): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlisten = onAbort(signal, () =>
      reject(failed(`the request for the credentials of the plugin ${command} was aborted`)),
    );
    void promise.then(resolve, reject).finally(unlisten);
  });
}

/** @returns the absolute path */
function allowedCommand(plugin: ExecPlugin, policy: CredentialPluginPolicy): string {
  const { command, interactiveMode, installHint } = plugin;
  const path = requireCommand(command, policy);
  if (interactiveMode === 'Always') {
    throw failed(`the plugin ${command} wants to ask a person (interactiveMode: Always): use another one`);
  }
  if (path !== undefined) return path;
  if (/[\\/]/.test(command)) {
    throw failed(`the plugin ${command} has a path relative to the working directory: use an absolute path`);
  }
  throw failed(`the plugin ${command} was not found${installHint ? `: ${installHint}` : ''}`);
}

/**
 * Returns the variable from which plugins read the protocol's version and, if they ask for it, the cluster.
 */
function execInfo(
  { apiVersion, provideClusterInfo = false }: ExecPlugin,
  cluster: KubeConfigCluster,
): string {
  const kind = 'ExecCredential';
  if (!provideClusterInfo) return JSON.stringify({ kind, apiVersion, spec: { interactive: false } });
  const { server, caData, caFile, skipTLSVerify, tlsServerName, execConfig } = cluster;
  const ca = caData ?? (caFile ? readSmallFile(caFile).toString('base64') : undefined);
  const described = {
    server,
    ...(ca ? { 'certificate-authority-data': ca } : {}),
    ...(skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
    ...(cluster.proxyUrl ? { 'proxy-url': cluster.proxyUrl } : {}),
    ...(execConfig === undefined ? {} : { config: execConfig }),
  };
  return JSON.stringify({ kind, apiVersion, spec: { interactive: false, cluster: described } });
}

/** Explains a failure without quoting the plugin's output: it may be a secret. */
function explain(
  outcome: Exclude<PluginOutcome, { kind: 'done' }>,
  { command, installHint }: ExecPlugin,
): string {
  switch (outcome.kind) {
    case 'not-started':
      if (outcome.code !== 'ENOENT') return `the plugin ${command} could not be started (${outcome.code})`;
      return `the plugin ${command} was not found${installHint ? `: ${installHint}` : ''}`;
    case 'timeout':
      return `the plugin ${command} gave no answer within ${RUN_MS_MAX / 1000} s and was ended`;
    case 'too-long':
      return `the plugin ${command} wrote more than ${OUTPUT_BYTES_MAX} bytes and was ended`;
    case 'exited': {
      const { code, stderrBytes } = outcome;
      const hint = stderrBytes > 0 ? ` with ${stderrBytes} bytes on stderr, ${WHY_NOT_SHOWN}` : '';
      return `the plugin ${command} failed (${code})${hint}`;
    }
    default:
      return `the plugin ${command} was ended: nobody waits for its answer any more`;
  }
}

/** A time in the form of RFC 3339. */
const TIME = /^\d{4}-\d\d-(\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Parses the output; errors never quote it, because it is a secret. */
function parse(output: string, { command, apiVersion }: ExecPlugin): ExecCredential {
  const wrong = (what: string): KubeloomError => failed(`the plugin ${command} gave ${what}`);
  const answer = parseJson(output);
  if (!isRecord(answer) || answer['kind'] !== 'ExecCredential') throw wrong('no ExecCredential');
  const { apiVersion: version, status } = answer;
  if (version !== apiVersion) throw wrong(`an ExecCredential that is not of ${apiVersion}, as was asked for`);
  if (!isRecord(status)) throw wrong('no ExecCredential with a status');
  const given = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'] as const;
  const [token = '', cert = '', key = '', expiry] = given.map((member) => status[member] ?? undefined);
  if (typeof token !== 'string' || typeof cert !== 'string' || typeof key !== 'string') {
    throw wrong('a token, certificate or key that is no text');
  }
  if (token === '' && cert === '' && key === '') throw wrong('neither a token nor a certificate and key');
  if ((cert === '') !== (key === ''))
    throw wrong('a certificate without a key, or a key without a certificate');
  if (token !== '' && !isToken(token.trim())) throw wrong('a token that no header can carry');
  if (cert !== '' && !isPair(cert, key))
    throw wrong('a certificate and key that are no PEM or do not belong together');
  const expiresAt = expiry === undefined ? Infinity : timeOf(expiry);
  if (Number.isNaN(expiresAt)) throw wrong('an expirationTimestamp that is no time of RFC 3339');
  return {
    ...(token === '' ? {} : { token: token.trim() }),
    ...(cert === '' ? {} : { cert, key }),
    expiresAt,
  };
}

function isPair(cert: string, key: string): boolean {
  try {
    secureContextOf({ cert, key });
    return true;
  } catch {
    return false;
  }
}

/** @returns NaN for a value that is no time */
function timeOf(value: unknown): number {
  const [, day] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  if (day === undefined) return Number.NaN;
  const ms = Date.parse(String(value));
  // Date.parse takes 30 February for 1 March.
  const isDay = new Date(Date.parse(`${String(value).slice(0, 10)}T00:00:00Z`)).getUTCDate() === Number(day);
  return isDay ? ms : Number.NaN;
}

function failed(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CREDENTIALS', message);
}

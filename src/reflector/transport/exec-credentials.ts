/**
 * Credentials from a plugin of the kubeconfig (`exec`), as in client-go. The plugin runs when there are
 * none, when they have expired, and when the server has refused them; never for every request, never twice
 * at the same time. (client-node runs it for every request when the plugin names no expiry.)
 */
import { readFileSync } from 'node:fs';
import type { Cluster, User } from '@kubernetes/client-node';
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import { parseJson } from '../../base/parse-json.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { isAllowed, resolveCommand } from './plugin-policy.ts';
import type { CredentialPluginPolicy } from './plugin-policy.ts';
import { runPlugin } from './plugin-process.ts';
import type { PluginOutcome } from './plugin-process.ts';

/** The members of a user's `exec` that are used here. */
export interface ExecPlugin {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
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
const API_VERSION = 'client.authentication.k8s.io/v1';
const API_VERSIONS: ReadonlySet<string> = new Set([API_VERSION, 'client.authentication.k8s.io/v1beta1']);

const WHY_NOT_SHOWN = 'not shown because they may hold secrets: run it yourself';

/** The runs by the plugin's entry in the kubeconfig: informers of one KubeConfig share one run. */
const remembered = new WeakMap<ExecPlugin, ExecCredentials>();

export interface ExecRequest {
  readonly cluster: Cluster;
  /** Returns whether the server has refused these; then the plugin must give others. */
  readonly isUnauthorized: (credential: ExecCredential) => boolean;
  readonly policy: CredentialPluginPolicy;
  /** Aborts the wait; terminates the plugin when no other request waits for it. */
  readonly signal: AbortSignal;
  /** The clock of the time limit. Default: the real one. */
  readonly clock?: Clock;
}

/** Returns the plugin that supplies the user's credentials. */
export function execPluginOf(user: User): ExecPlugin | undefined {
  const exec: unknown = user.exec ?? user.authProvider?.config?.exec;
  return typeof exec === 'object' && exec !== null ? (exec as ExecPlugin) : undefined;
}

/**
 * @throws ERR_KUBELOOM_PLUGIN_REFUSED when the policy forbids it, ERR_KUBELOOM_CREDENTIALS when it gives
 *   none
 */
export async function execCredential(plugin: ExecPlugin, request: ExecRequest): Promise<ExecCredential> {
  const command = allowedCommand(plugin, request.policy);
  const credentials = remembered.get(plugin) ?? new ExecCredentials(plugin);
  remembered.set(plugin, credentials);
  return credentials.current(command, request);
}

interface Run {
  readonly credential: Promise<ExecCredential>;
  readonly abort: AbortController;
  waiting: number;
}

class ExecCredentials {
  readonly #plugin: ExecPlugin;
  #last: ExecCredential | undefined;
  #run: Run | undefined;

  constructor(plugin: ExecPlugin) {
    this.#plugin = plugin;
  }

  async current(command: string, request: ExecRequest): Promise<ExecCredential> {
    const last = this.#last;
    if (last && last.expiresAt > Date.now() && !request.isUnauthorized(last)) return last;
    request.signal.throwIfAborted();
    const run = (this.#run ??= this.#start(command, request));
    run.waiting++;
    try {
      return await untilAborted(run.credential, request.signal);
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
    this.#last = parse(await outputOf(this.#plugin, command, request, signal), this.#plugin);
    return this.#last;
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlisten = onAbort(signal, () => reject(failed('the request for the credentials was aborted')));
    void promise.then(resolve, reject).finally(unlisten);
  });
}

/** @returns its absolute path */
function allowedCommand(plugin: ExecPlugin, policy: CredentialPluginPolicy): string {
  const { command, interactiveMode, apiVersion = API_VERSION, installHint } = plugin;
  if (!command) throw failed('the exec entry of the kubeconfig has no command');
  if (policy.policyType === 'DenyAll') throw refused(command, 'the policy is to run none');
  if (!API_VERSIONS.has(apiVersion)) {
    throw failed(
      `the plugin ${command} is for ${apiVersion}: kubeloom speaks ${[...API_VERSIONS].join(', ')}`,
    );
  }
  if (interactiveMode === 'Always') {
    throw failed(`the plugin ${command} wants to ask a person (interactiveMode: Always): use another one`);
  }
  const path = resolveCommand(command);
  if (path === undefined) {
    throw failed(`the plugin ${command} was not found${installHint ? `: ${installHint}` : ''}`);
  }
  if (!isAllowed(path, policy)) throw refused(command, 'it is not on the list of those that may run');
  return path;
}

async function outputOf(
  plugin: ExecPlugin,
  command: string,
  { cluster, clock = realClock }: ExecRequest,
  signal: AbortSignal,
): Promise<string> {
  const extra = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]));
  const env = { ...process.env, KUBERNETES_EXEC_INFO: execInfo(plugin, cluster), ...extra };
  const limits = { timeoutMs: RUN_MS_MAX, outputBytesMax: OUTPUT_BYTES_MAX };
  const outcome = await runPlugin({ command, args: plugin.args ?? [], env, clock, signal, ...limits });
  if (outcome.kind === 'done') return outcome.output;
  throw failed(explain(outcome, plugin));
}

/**
 * Returns the variable from which plugins read the protocol's version and, if they ask for it, the cluster.
 */
function execInfo(plugin: ExecPlugin, cluster: Cluster): string {
  const { apiVersion = API_VERSION, provideClusterInfo = false } = plugin;
  const { server, caData, caFile, skipTLSVerify, tlsServerName } = cluster;
  const ca = caData ?? (caFile ? readFileSync(caFile).toString('base64') : undefined);
  const described = {
    server,
    ...(ca ? { 'certificate-authority-data': ca } : {}),
    ...(skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
    ...(cluster.proxyUrl ? { 'proxy-url': cluster.proxyUrl } : {}),
  };
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster: described } : {}) };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
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

/** Parses the output; errors never quote it, because it is a secret. */
function parse(output: string, { command, apiVersion = API_VERSION }: ExecPlugin): ExecCredential {
  const answer = parseJson(output);
  if (!isRecord(answer) || answer['kind'] !== 'ExecCredential') {
    throw failed(`the plugin ${command} gave no ExecCredential`);
  }
  const { apiVersion: version, status } = answer;
  if (version !== apiVersion) {
    throw failed(
      `the plugin ${command} gave an ExecCredential that is not of ${apiVersion}, as was asked for`,
    );
  }
  if (!isRecord(status)) throw failed(`the plugin ${command} gave no ExecCredential with a status`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const hasPair = typeof cert === 'string' && typeof key === 'string';
  if (!token && !hasPair)
    throw failed(`the plugin ${command} gave neither a token nor a certificate and key`);
  const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : NaN;
  return {
    ...(typeof token === 'string' && token !== '' ? { token } : {}),
    ...(hasPair ? { cert, key } : {}),
    expiresAt: Number.isNaN(expiresAt) ? Infinity : expiresAt,
  };
}

function refused(command: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_PLUGIN_REFUSED',
    `the kubeconfig wants to run ${command}, and ${why} (restrictCredentialPlugins)`,
  );
}

function failed(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_CREDENTIALS', message);
}

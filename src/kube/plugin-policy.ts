/**
 * The policy that says which programs of a kubeconfig may run. A kubeconfig can run programs: its `exec`
 * entries name commands. client-go's rule: all of them, none, or those of a list.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, normalize } from 'node:path';
import { KubeloomError } from '../base/errors.ts';
import { anObject } from '../base/option-checks.ts';
import type { KubeConfig, User } from './client-node-types.ts';

/** Which credential plugins of a kubeconfig may run. */
export type CredentialPluginPolicy =
  | { readonly policyType: 'AllowAll' | 'DenyAll' }
  /** Names: absolute paths, or commands that are looked up in $PATH. */
  | { readonly policyType: 'Allowlist'; readonly allowlist: readonly { readonly name: string }[] };

const IN_FOLDER = /[\\/]/;
const ALLOW_ALL: CredentialPluginPolicy = { policyType: 'AllowAll' };
const policies = new WeakMap<object, CredentialPluginPolicy>();

/**
 * Sets the policy of every informer, list and watch made with this KubeConfig, and of the API objects of client-node that it
 * makes. Without it all plugins may run.
 *
 * @throws ERR_KUBELOOM_OPTION when `policy` is invalid
 */
export function restrictCredentialPlugins(
  kubeConfig: KubeConfig | Pick<KubeConfig, 'users' | 'getCurrentUser'>,
  policy: CredentialPluginPolicy,
): void {
  anObject('kubeConfig', kubeConfig);
  anObject('policy', policy);
  const isKnown = ['AllowAll', 'DenyAll', 'Allowlist'].includes(policy.policyType);
  const names = policy.policyType === 'Allowlist' ? policy.allowlist : [];
  const hasNames =
    Array.isArray(names) &&
    names.every((entry: unknown) => isCommandName((Object(entry) as { name?: unknown }).name));
  if (!isKnown || !hasNames || (policy.policyType === 'Allowlist' && names.length === 0)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      'a credential plugin policy is AllowAll, DenyAll, or Allowlist with at least one command, each an absolute path or a ' +
        'name without folders: a relative path would depend on the working directory',
    );
  }
  policies.set(kubeConfig, policy);
  if ('applyToHTTPSOptions' in kubeConfig) guard(kubeConfig);
}

function isCommandName(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && (isAbsolute(name) || !IN_FOLDER.test(name));
}

export function pluginPolicyOf(source: object): CredentialPluginPolicy {
  return policies.get(source) ?? ALLOW_ALL;
}

/** The methods of client-node's KubeConfig that run plugins. */
const RUNS_PLUGINS = ['applyToHTTPSOptions', 'applyToFetchOptions', 'applySecurityAuthentication'] as const;
const guarded = new WeakSet<KubeConfig>();

/** Makes client-node itself obey the policy: its API objects run plugins without kubeloom. */
function guard(kubeConfig: KubeConfig): void {
  if (guarded.has(kubeConfig)) return;
  guarded.add(kubeConfig);
  for (const name of RUNS_PLUGINS) {
    // client-node 2 has no `applyToHTTPSOptions`.
    const method: unknown = Reflect.get(kubeConfig, name);
    if (typeof method !== 'function') continue;
    const value = async function (this: KubeConfig, ...args: unknown[]): Promise<unknown> {
      requireAllowed(this.getCurrentUser(), pluginPolicyOf(kubeConfig));
      return (await method.apply(this, args)) as unknown;
    };
    Object.defineProperty(kubeConfig, name, { value, configurable: true, writable: true });
  }
}

function requireAllowed(user: User | null, policy: CredentialPluginPolicy): void {
  if (policy.policyType === 'AllowAll' || !user) return;
  const { exec, authProvider } = user as {
    exec?: { command?: unknown };
    authProvider?: User['authProvider'];
  };
  // client-node also runs the commands of these.
  const isHidden = ['exec', 'gcp', 'azure'].includes(authProvider?.name ?? '') || authProvider?.config?.exec;
  if (isHidden) throw refusedPlugin(`a command of the auth-provider of user ${user.name}`, NOT_LISTED);
  if (exec) requireCommand(typeof exec.command === 'string' ? exec.command : '', policy);
}

/**
 * Returns the absolute path of a plugin's command, undefined when there is no such command.
 *
 * @throws ERR_KUBELOOM_PLUGIN_REFUSED when the policy forbids it
 */
export function requireCommand(command: string, policy: CredentialPluginPolicy): string | undefined {
  if (policy.policyType === 'DenyAll') throw refusedPlugin(command, 'the policy is to run none');
  const path = resolveCommand(command);
  if (path !== undefined && !isAllowed(path, policy)) throw refusedPlugin(command, NOT_LISTED);
  return path;
}

const NOT_LISTED = 'it is not on the list of those that may run';

function refusedPlugin(command: string, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_PLUGIN_REFUSED',
    `the kubeconfig wants to run ${command}, and ${why} (restrictCredentialPlugins)`,
  );
}

/** @param command an absolute path */
function isAllowed(command: string, policy: CredentialPluginPolicy): boolean {
  if (policy.policyType !== 'Allowlist') return policy.policyType === 'AllowAll';
  return policy.allowlist.some(({ name }) => resolveCommand(name) === command);
}

/**
 * Resolves a command: an absolute path stays as it is; a bare name becomes the first executable file in the absolute folders
 * of $PATH. It is never a file of the working directory, whatever $PATH contains, and whatever the path is relative to.
 *
 * @returns undefined when there is none
 */
export function resolveCommand(command: string): string | undefined {
  if (isAbsolute(command)) return normalize(command);
  if (IN_FOLDER.test(command)) return undefined;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    for (const ending of endingsFor(command)) {
      const path = join(folder, `${command}${ending}`);
      if (isExecutable(path)) return path;
    }
  }
  return undefined;
}

function endingsFor(command: string): readonly string[] {
  if (process.platform !== 'win32' || extname(command) !== '') return [''];
  return (process.env['PATHEXT'] ?? '.EXE;.COM').split(';');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

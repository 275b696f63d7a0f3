/**
 * The policy that says which programs of a kubeconfig may run. A kubeconfig can run programs: its `exec`
 * entries name commands. client-go's rule: all of them, none, or those of a list.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import { KubeloomError } from '../../base/errors.ts';
import type { AnyKubeConfig, ServerSource } from '../../kube/server-source.ts';

export type CredentialPluginPolicy =
  | { readonly policyType: 'AllowAll' | 'DenyAll' }
  /** Names: absolute paths, or commands that are looked up in $PATH. */
  | { readonly policyType: 'Allowlist'; readonly allowlist: readonly { readonly name: string }[] };

const ALLOW_ALL: CredentialPluginPolicy = { policyType: 'AllowAll' };
const policies = new WeakMap<ServerSource, CredentialPluginPolicy>();

/**
 * Sets the policy of every informer, list and watch made with this KubeConfig. Without it all plugins may
 * run.
 *
 * @throws ERR_KUBELOOM_OPTION when `policy` is invalid
 */
export function restrictCredentialPlugins(kubeConfig: AnyKubeConfig, policy: CredentialPluginPolicy): void {
  const isKnown = ['AllowAll', 'DenyAll', 'Allowlist'].includes(policy.policyType);
  const names = policy.policyType === 'Allowlist' ? policy.allowlist : [];
  const hasNames = Array.isArray(names) && names.every(({ name }) => typeof name === 'string' && name !== '');
  if (!isKnown || !hasNames || (policy.policyType === 'Allowlist' && names.length === 0)) {
    throw new KubeloomError(
      'ERR_KUBELOOM_OPTION',
      'a credential plugin policy is AllowAll, DenyAll, or Allowlist with the names of at least one command',
    );
  }
  policies.set(kubeConfig, policy);
}

export function pluginPolicyOf(source: ServerSource): CredentialPluginPolicy {
  return policies.get(source) ?? ALLOW_ALL;
}

/** @param command an absolute path */
export function isAllowed(command: string, policy: CredentialPluginPolicy): boolean {
  if (policy.policyType !== 'Allowlist') return policy.policyType === 'AllowAll';
  return policy.allowlist.some(({ name }) => resolveCommand(name) === command);
}

/**
 * Resolves a command: a path stays as it is; a bare name becomes the first executable file in the absolute
 * folders of $PATH. It is never a file of the working directory, whatever $PATH contains.
 *
 * @returns undefined when there is none
 */
export function resolveCommand(command: string): string | undefined {
  if (/[\\/]/.test(command)) return resolve(command);
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

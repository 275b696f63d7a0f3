/**
 * Which programs of a kubeconfig may run. A kubeconfig is a program in disguise: its `exec` entries name commands.
 * client-go's rule: all of them, none, or those of a list.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';

export type CredentialPluginPolicy =
  | { readonly policyType: 'AllowAll' | 'DenyAll' }
  /** Names: absolute paths, or commands that are looked up in $PATH. */
  | { readonly policyType: 'Allowlist'; readonly allowlist: readonly { readonly name: string }[] };

const ALLOW_ALL: CredentialPluginPolicy = { policyType: 'AllowAll' };
const policies = new WeakMap<KubeConfig, CredentialPluginPolicy>();

/**
 * For every informer, list and watch made with this KubeConfig. Without it all plugins may run.
 *
 * @throws ERR_KUBELOOM_OPTION for what is no policy
 */
export function restrictCredentialPlugins(kubeConfig: KubeConfig, policy: CredentialPluginPolicy): void {
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

export function pluginPolicyOf(kubeConfig: KubeConfig): CredentialPluginPolicy {
  return policies.get(kubeConfig) ?? ALLOW_ALL;
}

/** @param command an absolute path */
export function isAllowed(command: string, policy: CredentialPluginPolicy): boolean {
  if (policy.policyType !== 'Allowlist') return policy.policyType === 'AllowAll';
  return policy.allowlist.some(({ name }) => resolveCommand(name) === command);
}

/**
 * What a command means: a path as it is, a bare name as the first executable file in the absolute folders of $PATH.
 * Never a file of the working directory, whatever $PATH says.
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

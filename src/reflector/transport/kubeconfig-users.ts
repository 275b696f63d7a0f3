/**
 * Adds the parts of a kubeconfig file's users that client-node omits: `tokenFile`, plugin paths relative to
 * the file, and all of the impersonated identity but its name.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import type { ClientNode } from '../../kube/client-node.ts';
import { identityOfFile } from './impersonation.ts';

interface FileUser {
  readonly name?: unknown;
  readonly user?: { readonly tokenFile?: unknown; readonly exec?: { readonly command?: unknown } } | null;
}

/** @param files the loaded files, the most important first; all of them are valid YAML */
export function completeUsers(
  kubeConfig: KubeConfig,
  files: readonly string[],
  clientNode: ClientNode,
): void {
  const done = new Set<string>();
  for (const file of files) {
    for (const { name, user } of usersOf(file, clientNode)) {
      if (typeof name !== 'string' || done.has(name)) continue;
      done.add(name);
      kubeConfig.users = kubeConfig.users.map((known) =>
        known.name === name
          ? { ...completed(known, user, dirname(file)), ...identityOfFile(user ?? {}) }
          : known,
      );
    }
  }
}

function usersOf(file: string, clientNode: ClientNode): readonly FileUser[] {
  const text = readFileSync(file, 'utf8');
  const { users } = clientNode.loadYaml<{ users?: readonly FileUser[] | null }>(text);
  return Array.isArray(users) ? users : [];
}

function completed(known: User, user: FileUser['user'], folder: string): User {
  const tokenFile = user?.tokenFile;
  const command = user?.exec?.command;
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    // It wins over a token beside it (client-go's rule), which is an old copy.
    const { token: _token, ...others } = known;
    const config = { tokenFile: resolve(folder, tokenFile) };
    return { ...others, authProvider: { name: 'tokenFile', config } };
  }
  // A bare name is looked up in $PATH.
  if (typeof command !== 'string' || !/[\\/]/.test(command)) return known;
  return { ...known, exec: { ...known.exec, command: resolve(folder, command) } };
}

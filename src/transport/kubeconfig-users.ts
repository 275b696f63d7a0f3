/**
 * What client-node leaves out of a kubeconfig file's users: `tokenFile`, which it does not know at all, and
 * plugins whose path is relative to the file.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { clientNode } from '../kube/client-node.ts';

interface FileUser {
  readonly name?: unknown;
  readonly user?: { readonly tokenFile?: unknown; readonly exec?: { readonly command?: unknown } } | null;
}

/** @param files that were loaded, the most important first; all of them are known to be YAML */
export function completeUsers(kubeConfig: KubeConfig, files: readonly string[]): void {
  const done = new Set<string>();
  for (const file of files) {
    for (const { name, user } of usersOf(file)) {
      if (typeof name !== 'string' || done.has(name)) continue;
      done.add(name);
      kubeConfig.users = kubeConfig.users.map((known) =>
        known.name === name ? completed(known, user, dirname(file)) : known,
      );
    }
  }
}

function usersOf(file: string): readonly FileUser[] {
  const text = readFileSync(file, 'utf8');
  const { users } = clientNode().loadYaml<{ users?: readonly FileUser[] | null }>(text);
  return Array.isArray(users) ? users : [];
}

function completed(known: User, user: FileUser['user'], folder: string): User {
  const tokenFile = user?.tokenFile;
  const command = user?.exec?.command;
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    // Goes before a token beside it (client-go's rule): that one is only what the file once held.
    const { token: _token, ...others } = known;
    const config = { tokenFile: resolve(folder, tokenFile) };
    return { ...others, authProvider: { name: 'tokenFile', config } };
  }
  // A bare name is looked up in $PATH.
  if (typeof command !== 'string' || !/[\\/]/.test(command)) return known;
  return { ...known, exec: { ...known.exec, command: resolve(folder, command) } };
}

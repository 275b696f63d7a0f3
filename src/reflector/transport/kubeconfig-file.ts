/**
 * Reads the text of a kubeconfig file into the entries of a KubeConfig, under client-node's names. Other than client-node it
 * reads `tokenFile`, paths of plugins relative to the file, and all of an impersonated identity.
 */
import { resolve } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { isRecord } from '../../kube/meta-shape.ts';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';
import { identityOfFile } from './impersonation.ts';

type Members = Readonly<Record<string, unknown>>;

/** YAML 1.2 and merge keys, which kubectl reads as well. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/** Explains that a file is unusable, without its content. */
export class UnusableKubeConfig extends Error {}

/**
 * @param folder the one of the file
 * @throws UnusableKubeConfig, js-yaml's YAMLException
 */
export function parseKubeConfig(content: string, folder: string): KubeConfigData {
  const file = load(content, { schema: SCHEMA });
  if (!isRecord(file)) throw new UnusableKubeConfig('it is no kubeconfig');
  return {
    clusters: entriesOf(file, 'cluster').map((entry) => clusterOf(entry, folder)),
    users: entriesOf(file, 'user').map((entry) => userOf(entry, folder)),
    contexts: entriesOf(file, 'context').map(contextOf),
    currentContext: text(file, 'current-context') ?? '',
  };
}

interface Entry {
  readonly name: string;
  /** Its place, for messages. */
  readonly where: string;
  readonly members: Members;
}

/** @param kind `cluster`: the list is `clusters`, and the members of an entry are at `cluster` */
function entriesOf(file: Members, kind: string): readonly Entry[] {
  const list = file[`${kind}s`];
  if (!Array.isArray(list)) return [];
  return list.map((entry: unknown, index) => {
    const place = `${kind}s[${index}]`;
    const found: Members = isRecord(entry) ? entry : {};
    const members = found[kind];
    const name = needed(found, 'name', place);
    return { name, where: `${place}.${kind}`, members: isRecord(members) ? members : {} };
  });
}

function clusterOf({ name, where, members }: Entry, folder: string): Cluster {
  return {
    name,
    server: needed(members, 'server', where),
    skipTLSVerify: members['insecure-skip-tls-verify'] === true,
    ...given('caData', text(members, 'certificate-authority-data')),
    ...given('caFile', path(members, 'certificate-authority', folder)),
    ...given('tlsServerName', text(members, 'tls-server-name')),
    ...given('proxyUrl', text(members, 'proxy-url')),
  };
}

function userOf({ name, members }: Entry, folder: string): User {
  const tokenFile = path(members, 'tokenFile', folder);
  const { exec } = members;
  return {
    name,
    ...given('certData', text(members, 'client-certificate-data')),
    ...given('certFile', path(members, 'client-certificate', folder)),
    ...given('keyData', text(members, 'client-key-data')),
    ...given('keyFile', path(members, 'client-key', folder)),
    ...given('username', text(members, 'username')),
    ...given('password', text(members, 'password')),
    ...given('exec', isRecord(exec) ? withCommand(exec, folder) : undefined),
    ...identityOfFile(members),
    // A token file wins over a token beside it (client-go's rule), which is an old copy.
    ...(tokenFile === undefined
      ? {
          ...given('token', text(members, 'token')),
          ...given('authProvider', members['auth-provider'] ?? undefined),
        }
      : { authProvider: { name: 'tokenFile', config: { tokenFile } } }),
  };
}

function contextOf({ name, where, members }: Entry): Context {
  return {
    name,
    cluster: needed(members, 'cluster', where),
    user: text(members, 'user') ?? '',
    ...given('namespace', text(members, 'namespace')),
  };
}

/** A bare name is looked up in $PATH; a path is relative to the file. */
function withCommand(exec: Members, folder: string): Members {
  const { command } = exec;
  if (typeof command !== 'string' || !/[\\/]/.test(command)) return exec;
  return { ...exec, command: resolve(folder, command) };
}

function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value };
}

function needed(members: Members, member: string, where: string): string {
  const value = text(members, member);
  if (value === undefined) throw new UnusableKubeConfig(`${where}.${member} is missing`);
  return value;
}

function path(members: Members, member: string, folder: string): string | undefined {
  const relative = text(members, member);
  return relative === undefined ? undefined : resolve(folder, relative);
}

/** Returns undefined for an empty text. Refuses a list or a map, which YAML aliases could expand to any length. */
function text(members: Members, member: string): string | undefined {
  const value = members[member];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') {
    throw new UnusableKubeConfig(`its ${member} is a list or a map where a text belongs`);
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

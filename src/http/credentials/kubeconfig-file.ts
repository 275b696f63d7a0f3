/**
 * Reads the text of a kubeconfig file into the entries of a KubeConfig, under client-node's names. Other than client-node it
 * reads `tokenFile`, paths of plugins relative to the file, settings for plugins, and all of an impersonated identity.
 */
import { resolve } from 'node:path';
import type { Context } from '../../kube/client-node-types.ts';
import { CORE_SCHEMA, NOT_RESOLVED, defineScalarTag, loadAll, mergeTag } from 'js-yaml';
import type { ScalarTagDefinition } from 'js-yaml';
import type { KubeConfigCluster, KubeConfigUser } from '../../kube/confirm-usable.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { KubeConfigData } from '../../kube/loaded-kube-config.ts';
import { identityOfFile } from './impersonation.ts';
import { CONFIG, UnusableKubeConfig, checkShape, plainData } from './kubeconfig-shape.ts';

type Members = Readonly<Record<string, unknown>>;

const TRUE: ReadonlySet<string> = new Set([
  'y',
  'Y',
  'yes',
  'Yes',
  'YES',
  'on',
  'On',
  'ON',
  'true',
  'True',
  'TRUE',
]);
const FALSE: ReadonlySet<string> = new Set([
  'n',
  'N',
  'no',
  'No',
  'NO',
  'off',
  'Off',
  'OFF',
  'false',
  'False',
  'FALSE',
]);
const WHOLE = /^([-+]?)0([xXbBoO]?)([0-9a-fA-F]+)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const UNBOUNDED = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The booleans and numbers of the YAML that kubectl reads: where it sees a text, a text is meant. */
const SCHEMA = CORE_SCHEMA.withTags(
  mergeTag,
  tag('bool', (source) => (TRUE.has(source) ? true : FALSE.has(source) ? false : undefined)),
  tag('int', numberOf),
  tag('float', numberOf),
);

function tag(name: string, valueOf: (source: string) => boolean | number | undefined): ScalarTagDefinition {
  return defineScalarTag(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    resolve: (source) => valueOf(source) ?? NOT_RESOLVED,
    identify: () => false,
  });
}

/** Returns the number that an unquoted text is, undefined when it is none. */
function numberOf(source: string): number | undefined {
  if (!/^[-+.0-9]/.test(source)) return undefined;
  if (UNBOUNDED.test(source)) return /n$/i.test(source) ? Number.NaN : Infinity;
  const plain = source.replaceAll('_', '');
  const [, sign = '', base = '', digits = ''] = WHOLE.exec(plain) ?? [];
  const value = digits === '' ? Number.NaN : Number(`0${base.toLowerCase() || 'o'}${digits}`);
  if (!Number.isNaN(value)) return sign === '-' ? -value : value;
  return DECIMAL.test(plain) ? Number(plain) : undefined;
}

/**
 * @param folder the folder of the file
 * @throws UnusableKubeConfig, js-yaml's YAMLException
 */
export function parseKubeConfig(content: string, folder: string): KubeConfigData {
  const [document] = loadAll(firstDocument(content), { schema: SCHEMA, json: true });
  // A file without content is a kubeconfig without entries.
  const file: unknown = document ?? {};
  if (!isRecord(file) || Array.isArray(file)) throw new UnusableKubeConfig('it is no kubeconfig');
  checkShape(file, CONFIG, '');
  if ((file['kind'] || 'Config') !== 'Config' || (file['apiVersion'] || 'v1') !== 'v1') {
    throw new UnusableKubeConfig('its kind and apiVersion must be Config and v1');
  }
  return {
    clusters: entriesOf(file, 'cluster').map((entry) => clusterOf(entry, folder)),
    users: entriesOf(file, 'user').map((entry) => userOf(entry, folder)),
    contexts: entriesOf(file, 'context').map(contextOf),
    currentContext: text(file, 'current-context') ?? '',
  };
}

/** Returns the first document: kubectl reads none after it. The line of a marker is never within a text. */
function firstDocument(content: string): string {
  const markers = [...content.matchAll(/^(?:---|\.\.\.)(?=\s|$)/gm)];
  const [first, second] = markers;
  const before = content.slice(0, first?.index).replace(/^\ufeff/, '');
  const isEmpty = before.split('\n').every((line) => line.startsWith('%') || /^\s*(?:#|$)/.test(line));
  return content.slice(0, (isEmpty ? second : first)?.index);
}

interface Entry {
  readonly name: string;
  /** Place of the entry, for messages. */
  readonly where: string;
  readonly members: Members;
}

/** @param kind `cluster`: the list is `clusters`, and the members of an entry are at `cluster` */
function entriesOf(file: Members, kind: string): readonly Entry[] {
  const list = (file[`${kind}s`] ?? []) as readonly (Members | null)[];
  const names = new Set<string>();
  return list.map((entry, index) => {
    const name = text(entry ?? {}, 'name') ?? '';
    if (names.has(name))
      throw new UnusableKubeConfig(`${kind}s has two entries with the name ${JSON.stringify(name)}`);
    names.add(name);
    return { name, where: `${kind}s[${index}].${kind}`, members: (entry?.[kind] ?? {}) as Members };
  });
}

function clusterOf({ name, where, members }: Entry, folder: string): KubeConfigCluster {
  return {
    name,
    server: text(members, 'server') ?? '',
    skipTLSVerify: members['insecure-skip-tls-verify'] === true,
    ...given('caData', text(members, 'certificate-authority-data')),
    ...given('caFile', path(members, 'certificate-authority', folder)),
    ...given('tlsServerName', text(members, 'tls-server-name')),
    ...given('proxyUrl', text(members, 'proxy-url')),
    ...given('execConfig', execConfigOf(members, `${where}.extensions`)),
  };
}

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function execConfigOf({ extensions }: Members, where: string): unknown {
  const list = (extensions ?? []) as readonly (Members | null)[];
  const found = list.find((entry) => entry?.['name'] === EXEC_EXTENSION);
  return plainData(found?.['extension'] ?? undefined, where);
}

function userOf({ name, members }: Entry, folder: string): KubeConfigUser {
  const { exec } = members;
  return {
    name,
    ...given('certData', text(members, 'client-certificate-data')),
    ...given('certFile', path(members, 'client-certificate', folder)),
    ...given('keyData', text(members, 'client-key-data')),
    ...given('keyFile', path(members, 'client-key', folder)),
    ...given('token', text(members, 'token')),
    ...given('tokenFile', path(members, 'tokenFile', folder)),
    ...given('username', text(members, 'username')),
    ...given('password', text(members, 'password')),
    ...given('authProvider', members['auth-provider'] ?? undefined),
    ...given('exec', isRecord(exec) ? withCommand(exec, folder) : undefined),
    ...identityOfFile(members),
  };
}

function contextOf({ name, members }: Entry): Context {
  return {
    name,
    cluster: text(members, 'cluster') ?? '',
    user: text(members, 'user') ?? '',
    ...given('namespace', text(members, 'namespace')),
  };
}

/** A bare name is looked up in $PATH; a path is relative to the file. */
function withCommand(exec: Members, folder: string): Members {
  const command = text(exec, 'command');
  const args = ((exec['args'] ?? []) as readonly (string | null)[]).map((arg) => arg ?? '');
  return {
    ...exec,
    args,
    ...(command !== undefined && /[\\/]/.test(command) ? { command: resolve(folder, command) } : {}),
  };
}

function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value };
}

function path(members: Members, member: string, folder: string): string | undefined {
  const relative = text(members, member);
  return relative === undefined ? undefined : resolve(folder, relative);
}

/** Returns a text that the shape checked; undefined for an empty text. */
function text(members: Members, member: string): string | undefined {
  const value = members[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

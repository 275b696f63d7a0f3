/**
 * The types of a kubeconfig file's members: a table, and the check of a file against it. As for kubectl, a member of another
 * type makes the whole file unusable; unknown members and null are accepted.
 */
import { isBase64 } from '../../kube/confirm-usable.ts';
import { isRecord } from '../../kube/meta-shape.ts';

/** Explains why a file is unusable, without the content. */
export class UnusableKubeConfig extends Error {}

export type Shape =
  | 'text'
  | 'flag'
  /** Base64. */
  | 'bytes'
  | 'anything'
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'map'; readonly of: Shape }
  | { readonly kind: 'members'; readonly of: Readonly<Record<string, Shape>> };

const TEXTS: Shape = listOf('text');
const EXTENSIONS: Shape = listOf(membersOf({ name: 'text', extension: 'anything' }));
const EXEC: Shape = membersOf({
  apiVersion: 'text',
  command: 'text',
  args: TEXTS,
  env: listOf(membersOf({ name: 'text', value: 'text' })),
  installHint: 'text',
  interactiveMode: 'text',
  provideClusterInfo: 'flag',
});

export const CONFIG: Shape = membersOf({
  kind: 'text',
  apiVersion: 'text',
  'current-context': 'text',
  preferences: membersOf({ colors: 'flag', extensions: EXTENSIONS }),
  extensions: EXTENSIONS,
  clusters: named('cluster', {
    server: 'text',
    'tls-server-name': 'text',
    'insecure-skip-tls-verify': 'flag',
    'certificate-authority': 'text',
    'certificate-authority-data': 'bytes',
    'proxy-url': 'text',
    'disable-compression': 'flag',
    extensions: EXTENSIONS,
  }),
  users: named('user', {
    'client-certificate': 'text',
    'client-certificate-data': 'bytes',
    'client-key': 'text',
    'client-key-data': 'bytes',
    token: 'text',
    tokenFile: 'text',
    as: 'text',
    'as-uid': 'text',
    'as-groups': TEXTS,
    'as-user-extra': mapOf(TEXTS),
    username: 'text',
    password: 'text',
    'auth-provider': membersOf({ name: 'text', config: mapOf('text') }),
    exec: EXEC,
    extensions: EXTENSIONS,
  }),
  contexts: named('context', { cluster: 'text', user: 'text', namespace: 'text', extensions: EXTENSIONS }),
});

function listOf(of: Shape): Shape {
  return { kind: 'list', of };
}

function mapOf(of: Shape): Shape {
  return { kind: 'map', of };
}

function membersOf(of: Readonly<Record<string, Shape>>): Shape {
  return { kind: 'members', of };
}

function named(member: string, members: Readonly<Record<string, Shape>>): Shape {
  return listOf(membersOf({ name: 'text', [member]: membersOf(members) }));
}

/**
 * Checks a value of a YAML file.
 *
 * @param place of the value, for the message
 * @throws UnusableKubeConfig
 */
export function checkShape(value: unknown, shape: Shape, place: string): void {
  new Check().value(value, shape, place);
}

class Check {
  /** Aliases may name a list a million times. */
  readonly #seen = new Map<object, Shape>();

  value(value: unknown, shape: Shape, place: string): void {
    if (value === undefined || value === null || shape === 'anything') return;
    if (typeof shape === 'string') {
      const wrong = wrongScalar(value, shape);
      if (wrong !== undefined) throw new UnusableKubeConfig(`${place} ${wrong}`);
      return;
    }
    const isList = shape.kind === 'list';
    if (typeof value !== 'object' || Array.isArray(value) !== isList) {
      throw new UnusableKubeConfig(`${place} must be a ${isList ? 'list' : 'map'}`);
    }
    if (this.#seen.get(value) === shape) return;
    this.#seen.set(value, shape);
    const entries = Object.entries(value);
    for (const [key, entry] of entries) this.#entry(entry, key, shape, place);
  }

  #entry(entry: unknown, key: string, shape: Exclude<Shape, string>, place: string): void {
    if (shape.kind === 'list') this.value(entry, shape.of, `${place}[${key}]`);
    // The keys of such a map may be secrets.
    else if (shape.kind === 'map') this.value(entry, shape.of, `a value of ${place}`);
    else if (Object.hasOwn(shape.of, key)) {
      this.value(entry, shape.of[key] ?? 'anything', place === '' ? key : `${place}.${key}`);
    }
  }
}

function wrongScalar(value: unknown, shape: 'text' | 'flag' | 'bytes'): string | undefined {
  if (shape === 'flag') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (typeof value === 'number' || typeof value === 'boolean') {
    return `is a ${typeof value}, where a text belongs: write it in quotes`;
  }
  if (typeof value !== 'string') return 'is a list or a map where a text belongs';
  return shape === 'bytes' && !isBase64(value) ? 'is no base64' : undefined;
}

/** No extension needs more values. */
const VALUES_MAX = 10_000;

/**
 * Returns a copy of an extension as JSON data.
 *
 * @throws UnusableKubeConfig when aliases make it too large, or a number is not exact
 */
export function plainData(value: unknown, place: string): unknown {
  let left = VALUES_MAX;
  const copy = (from: unknown): unknown => {
    if (--left < 0) throw new UnusableKubeConfig(`${place} has more than ${VALUES_MAX} values`);
    if (Array.isArray(from)) return from.map(copy);
    if (isRecord(from))
      return Object.fromEntries(Object.entries(from).map(([key, entry]) => [key, copy(entry)]));
    if (
      typeof from === 'number' &&
      (!Number.isFinite(from) || (Number.isInteger(from) && !Number.isSafeInteger(from)))
    ) {
      throw new UnusableKubeConfig(`${place} has a number that would be rounded: write it in quotes`);
    }
    return from;
  };
  return copy(value);
}

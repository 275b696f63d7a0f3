/**
 * The identity that a kubeconfig's user acts as: `as`, `as-uid`, `as-groups` and `as-user-extra`, and the
 * request headers that carry it, as client-go writes them. An identity is sent whole or refused: a request
 * with a part of it missing would run with other rights.
 *
 * client-node reads and sends only `as`; loadKubeConfig adds the rest to the users under the names below.
 */
import type { User } from '../../kube/client-node-types.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { Headers } from '../../kube/connection-options.ts';

/** The members of a kubeconfig file's user, and their names in a KubeConfig's user. */
const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['as', 'impersonateUser'],
  ['as-uid', 'impersonateUid'],
  ['as-groups', 'impersonateGroups'],
  ['as-user-extra', 'impersonateExtra'],
]);
const KNOWN: ReadonlySet<string> = new Set(MEMBERS.values());
/** Members that describe an identity, known or not. */
const OF_IDENTITY = /^(?:as(?:-.*)?|impersonate.*)$/;
/**
 * The bytes of a header name that client-go leaves as they are: those of an RFC 7230 token, except the
 * percent sign.
 */
const PLAIN_BYTE = /[\w!#$&'*+.^`|~-]/;
/** A header value: printable, without white space at either end, which servers would drop. */
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** Returns the identity in a file's user, under the names of a KubeConfig's user. */
export function identityOfFile(user: object): Readonly<Record<string, unknown>> {
  const found = Object.entries(user).filter(([member, value]) => OF_IDENTITY.test(member) && value !== null);
  return Object.fromEntries(found.map(([member, value]) => [MEMBERS.get(member) ?? member, value]));
}

/**
 * Returns the headers of the identity.
 *
 * @throws ERR_KUBELOOM_KUBECONFIG when a part of the identity cannot be sent
 */
export function identityHeaders(user: User): Headers {
  const identity = Object.entries(user).filter(
    ([member, value]) => OF_IDENTITY.test(member) && isGiven(value),
  );
  const unknown = identity.find(([member]) => !KNOWN.has(member));
  if (unknown) throw unsendable(user, `${unknown[0]} is not known`);
  const { impersonateUser, impersonateUid, impersonateGroups, impersonateExtra }: Record<string, unknown> =
    Object.fromEntries(identity);
  if (identity.length > 0 && impersonateUser === undefined) {
    throw unsendable(user, 'a uid, groups or extra need a user to act as (as)');
  }
  const headers: Record<string, string | readonly string[]> = {};
  if (impersonateUser !== undefined) headers['impersonate-user'] = text(user, 'as', impersonateUser);
  if (impersonateUid !== undefined) headers['impersonate-uid'] = text(user, 'as-uid', impersonateUid);
  if (impersonateGroups !== undefined) {
    headers['impersonate-group'] = texts(user, 'as-groups', impersonateGroups);
  }
  return { ...headers, ...extraHeaders(user, impersonateExtra) };
}

/** Returns whether a value is present; client-go treats an empty text, list or map as absent. */
function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function extraHeaders(user: User, extra: unknown): Headers {
  if (extra === undefined) return {};
  if (typeof extra !== 'object' || extra === null || Array.isArray(extra)) {
    throw unsendable(user, 'as-user-extra is no map of lists');
  }
  const headers = new Map<string, readonly string[]>();
  for (const [key, values] of Object.entries(extra)) {
    // Header names are case-insensitive: keys that differ only in case are equal, as in client-go.
    const name = `impersonate-extra-${escapeKey(key)}`.toLowerCase();
    const sent = texts(user, `as-user-extra ${JSON.stringify(key)}`, values ?? []);
    headers.set(name, [...(headers.get(name) ?? []), ...sent]);
  }
  return Object.fromEntries(headers);
}

/** Escapes a key like client-go's headerKeyEscape. */
function escapeKey(key: string): string {
  const bytes = Array.from(Buffer.from(key), (byte) => {
    const letter = String.fromCharCode(byte);
    return PLAIN_BYTE.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return bytes.join('');
}

function texts(user: User, what: string, values: unknown): readonly string[] {
  if (!Array.isArray(values)) throw unsendable(user, `${what} is no list of texts`);
  return values.map((value: unknown) => text(user, what, value ?? ''));
}

/** Returns a header value whose characters are the bytes of the text in UTF-8, as Go sends it. */
function text(user: User, what: string, value: unknown): string {
  if (typeof value !== 'string') throw unsendable(user, `${what} is no text`);
  const bytes = Buffer.from(value).toString('latin1');
  if (!FIELD_VALUE.test(bytes)) {
    throw unsendable(user, `${what} has control characters, or white space at an end`);
  }
  return bytes;
}

function unsendable({ name }: User, why: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_KUBECONFIG',
    `the identity that user ${JSON.stringify(name)} of the kubeconfig acts as cannot be sent: ${why}`,
  );
}

/**
 * Continue tokens: the last key of a page, and a digest of the query. Lists are in the order of keys, so the next page
 * begins after that key even if objects were added or deleted since.
 */
import { createHash } from 'node:crypto';
import { KubeloomError } from '../../base/errors.ts';

/** Returns a token. @param query text that must be equal for all pages */
export function continueToken(query: string, lastKey: string): string {
  return Buffer.from(JSON.stringify([digest(query), lastKey])).toString('base64url');
}

/** Returns the key after which the next page begins. @throws ERR_KUBELOOM_CONTINUE */
export function keyOfToken(query: string, token: string): string {
  const [ofQuery, key] = parsed(token);
  if (typeof ofQuery !== 'string' || typeof key !== 'string') {
    throw new KubeloomError(
      'ERR_KUBELOOM_CONTINUE',
      `${JSON.stringify(token)} is no continue token of this cache: pass \`continue\` of the previous page`,
    );
  }
  if (ofQuery === digest(query)) return key;
  const message =
    'the continue token is of another list: keep kind, view, namespace and selectors the same for all pages';
  throw new KubeloomError('ERR_KUBELOOM_CONTINUE', message);
}

function parsed(token: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function digest(query: string): string {
  return createHash('sha256').update(query).digest('base64url').slice(0, 16);
}

/**
 * Continue tokens: the last key of a page, and for which query it was. Lists are in the order of keys, so a page
 * begins behind that key whatever has come and gone since.
 */
import { createHash } from 'node:crypto';
import { KubeloomError } from '../errors.ts';

/** @param query everything that must not change between pages */
export function continueToken(query: string, lastKey: string): string {
  return Buffer.from(JSON.stringify([digest(query), lastKey])).toString('base64url');
}

/** The key behind which the next page begins. @throws ERR_KUBELOOM_CONTINUE */
export function keyOfToken(query: string, token: string): string {
  const [ofQuery, key] = parsed(token);
  if (typeof ofQuery !== 'string' || typeof key !== 'string') {
    throw new KubeloomError(
      'ERR_KUBELOOM_CONTINUE',
      `${JSON.stringify(token)} is no continue token of this cache`,
    );
  }
  if (ofQuery === digest(query)) return key;
  const message =
    'the continue token is of another list: kind, namespace and selectors must stay as they were';
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

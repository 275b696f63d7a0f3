/**
 * The secrets with which this thread makes requests: tokens and passwords. A server or a proxy may repeat them in any
 * part of its answer, so they are hidden in every message of an error.
 */

import { toUSVString } from 'node:util';

/** A shorter text is no secret, and hiding it would destroy messages. */
const SECRET_CHARACTERS_MIN = 6;
/** Connections whose secrets are kept. Tokens are renewed for as long as a program runs; the oldest connections are forgotten. */
const CONNECTIONS_MAX = 1000;
const HIDDEN = '[hidden]';

/** By their texts, the oldest first. */
const connections = new Map<string, readonly string[]>();

/** @param secrets of one connection */
export function keepSecrets(secrets: readonly string[]): void {
  const kept = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
  if (kept.length === 0) return;
  const id = kept.join('\n');
  connections.delete(id);
  // Longer secrets first: a secret may contain another.
  connections.set(
    id,
    [...new Set(kept.flatMap(formsOf))].sort((one, other) => other.length - one.length),
  );
  const [oldest] = connections.keys();
  if (connections.size > CONNECTIONS_MAX && oldest !== undefined) connections.delete(oldest);
}

/** Returns the text with all secrets of this thread's connections replaced. */
export function hideSecrets(text: string): string {
  let hidden = text;
  for (const secrets of connections.values()) {
    for (const secret of secrets) hidden = hidden.replaceAll(secret, HIDDEN);
  }
  return hidden;
}

/** The secret as text, in JSON, in a URL and in base64. */
function formsOf(secret: string): string[] {
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(toUSVString(secret)),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ];
}

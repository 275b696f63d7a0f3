/**
 * The one place that decides which text of a server a message may quote. An explanation is quoted: the message of a Status,
 * the text or page of a proxy. A part of JSON is not quoted, wherever it was cut: it may be of a Secret.
 */
import { hideSecrets } from './secrets.ts';

const QUOTED_CHARACTERS_MAX = 300;
/** Length of the text in which credentials are searched; a message quotes less. */
const CREDENTIALS_CHARACTERS_MAX = 8192;
const IDENTITY_CHARACTERS_MAX = 80;

/** A page may contain JSON and style sheets, but no object. */
const PAGE = /^<(?:!doctype|html|\?xml)\b/i;
const JSON_BEGINNING = /^["[{]/;
const JSON_PART = /[{}]|"\s*[:,\]]/;
/** A word of this length is encoded data: no language has it. */
const DATA = /[\w+/=-]{80}/;
/** Some proxies repeat the request's headers in the response. */
const CREDENTIALS = /\b(Bearer|Basic)\s+(?=\S*[\dA-Z=])[\w.~+/=-]{8,}/gi;

/**
 * Returns what a message may quote of an answer that is not of the expected form.
 *
 * @returns at most 300 characters of the beginning; undefined when the answer, or a part of it, may be JSON or data
 */
export function quotableText(answer: string): string | undefined {
  const text = answer.trim();
  if (PAGE.test(text)) return explanation(text);
  if (JSON_BEGINNING.test(text) || JSON_PART.test(text)) return undefined;
  return DATA.test(text.slice(0, QUOTED_CHARACTERS_MAX)) ? undefined : explanation(text);
}

/** Returns at most 300 characters of a text that a server gives as an explanation, without credentials. */
export function explanation(received: string): string {
  const text = withoutCredentials(received);
  return text.length > QUOTED_CHARACTERS_MAX ? `${text.slice(0, QUOTED_CHARACTERS_MAX)}…` : text;
}

export function withoutCredentials(received: string): string {
  return hideSecrets(received.slice(0, CREDENTIALS_CHARACTERS_MAX)).replace(CREDENTIALS, '$1 [hidden]');
}

/**
 * Returns the members of an object or event that identify it, as JSON: texts only, at most 80 characters of each.
 *
 * @returns '' when none of them is a text
 */
export function identityText(members: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(members).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value.slice(0, IDENTITY_CHARACTERS_MAX)] as const] : [],
  );
  return texts.length === 0 ? '' : JSON.stringify(Object.fromEntries(texts));
}

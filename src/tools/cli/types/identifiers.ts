/** Names of TypeScript for names of Kubernetes: each is taken once. */

/** Words that no constant may be named. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false ' +
    'finally for function if implements import in instanceof interface let new null package private protected public return ' +
    'static super switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
);

export class Identifiers {
  readonly #taken: Set<string>;

  /** @param taken names that the file imports */
  constructor(...taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  /** Returns the name, or the name with the first free number. */
  take(wanted: string): string {
    const base = RESERVED.has(wanted) || /^\d/.test(wanted) ? `_${wanted}` : wanted;
    let name = base;
    for (let number = 2; this.#taken.has(name); number++) name = `${base}${number}`;
    this.#taken.add(name);
    return name;
  }
}

/** `cert-manager.io` as `CertManagerIo`. */
export function pascal(name: string): string {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('');
}

/** `Certificate` as `certificate`, `HTTPRoute` as `httpRoute`. */
function camel(kind: string): string {
  return kind.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (start) => start.toLowerCase());
}

/** The plural with the capitals of the kind: `certificateRequests`, `networkPolicies`. */
export function pluralName(kind: string, plural: string): string {
  const lower = kind.toLowerCase();
  let same = 0;
  while (same < lower.length && lower[same] === plural[same]) same++;
  return `${camel(kind.slice(0, same))}${pascal(`x${plural.slice(same)}`).slice(1)}`;
}

/** A member's name, in quotes if necessary. */
export function memberName(name: string): string {
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : literal(name);
}

/** A literal of TypeScript for a scalar of JSON. */
export function literal(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  const inner = JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
  return `'${inner.replaceAll("'", String.raw`\'`)}'`;
}

/**
 * The rules for resourceVersion, resourceVersionMatch, limit and continue, reduced to the revision of the
 * read. They follow metainternalversion's validation and storage.ValidateListOptions.
 */

import { parseJson } from '../../../base/parse-json.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { flag, integer } from '../wire/request-info.ts';
import { badRequest, bareFailure, invalid, quote } from '../store/status.ts';
import type { FieldError } from '../store/field-error.ts';

/** The revision of a read: the present, anything at least as new as N, or exactly N. */
type ReadAt =
  | { readonly kind: 'latest' }
  | { readonly kind: 'notOlderThan'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

/** Options of a LIST or WATCH, as the API has them. */
export interface ListOptions {
  readonly at: ReadAt;
  readonly limit: number;
  readonly continueFrom: ContinueToken | undefined;
}

/** `revision` -1: the list continues in the present state, because the token's snapshot is gone. */
interface ContinueToken {
  readonly revision: number;
  readonly startKey: string;
}

/** Options of a watched kind. */
export interface WatchOptions {
  /** The watch sends the events after this revision; undefined: from the present. */
  readonly from: number | undefined;
  readonly initialEvents: boolean;
  readonly allowBookmarks: boolean;
  /**
   * True if the watch ends the initial events with the annotated bookmark: only for an explicit `sendInitialEvents`.
   */
  readonly endBookmark: boolean;
  readonly timeoutSeconds: number | undefined;
}

const MATCH_FIELD = 'resourceVersionMatch';
const INITIAL_EVENTS = 'sendInitialEvents';

export function parseListOptions(query: URLSearchParams): ListOptions {
  integer(query, 'timeoutSeconds');
  const asked = integer(query, 'limit') ?? 0;
  const version = query.get('resourceVersion') ?? '';
  const match = query.get(MATCH_FIELD) ?? '';
  const token = query.get('continue') ?? '';
  const given = match !== '';
  requireNone([
    given && version === '' && forbiddenMatch('is forbidden unless resourceVersion is provided'),
    given && token !== '' && forbiddenMatch('is forbidden when continue is provided'),
    given &&
      match !== 'Exact' &&
      match !== 'NotOlderThan' &&
      notSupported(match, ['Exact', 'NotOlderThan', '']),
    match === 'Exact' && version === '0' && forbiddenMatch('"exact" is forbidden for resourceVersion "0"'),
    query.has(INITIAL_EVENTS) && forbidden(INITIAL_EVENTS, 'sendInitialEvents is forbidden for list'),
  ]);

  // The real server answers resourceVersion "0" from the watch cache, which ignores limits.
  const limit = version === '0' ? 0 : Math.max(0, asked);
  if (token !== '') {
    const continueFrom = decodeContinue(token);
    if (version !== '' && version !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return { at: { kind: 'latest' }, limit, continueFrom };
  }
  return { at: readAt(version, match, limit), limit, continueFrom: undefined };
}

/** The minimum revision of a GET. */
export function parseGetOptions(query: URLSearchParams): number {
  const version = query.get('resourceVersion') ?? '';
  const why = invalidRevision(version);
  if (why !== undefined) throw bareFailure(why);
  return Number(version);
}

function readAt(version: string, match: string, limit: number): ReadAt {
  const revision = parseRevision(version);
  if (revision === undefined) return { kind: 'latest' };
  // A limit with a version and no match means exactly this version.
  const isExact = match === 'Exact' || (match === '' && limit > 0);
  return { kind: isExact ? 'exact' : 'notOlderThan', revision };
}

export function parseWatchOptions(query: URLSearchParams): WatchOptions {
  const timeoutSeconds = integer(query, 'timeoutSeconds');
  integer(query, 'limit');
  const version = query.get('resourceVersion') ?? '';
  const match = query.get(MATCH_FIELD) ?? '';
  const asked = query.has(INITIAL_EVENTS);
  const given = match !== '';
  const wrong = match !== 'NotOlderThan';
  requireNone([
    asked &&
      wrong &&
      forbidden(MATCH_FIELD, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    given && !asked && forbiddenMatch('is forbidden for watch unless sendInitialEvents is provided'),
    given && wrong && notSupported(match, ['NotOlderThan']),
    given && (query.get('continue') ?? '') !== '' && forbiddenMatch('is forbidden when continue is provided'),
  ]);

  const why = invalidRevision(version);
  if (why !== undefined) throw bareFailure(why);
  const revision = parseRevision(version);
  const allowBookmarks = flag(query, 'allowWatchBookmarks');
  // Without sendInitialEvents, "" and "0" request the present state first.
  const initialEvents = asked ? flag(query, INITIAL_EVENTS) : revision === undefined || revision === 0;
  return {
    from: revision === 0 ? undefined : revision,
    initialEvents,
    allowBookmarks,
    endBookmark: asked && initialEvents && allowBookmarks,
    timeoutSeconds,
  };
}

/** undefined for "", the number otherwise. */
function parseRevision(version: string): number | undefined {
  const why = invalidRevision(version);
  if (why !== undefined) throw badRequest(`invalid resource version: ${why}`);
  return version === '' ? undefined : Number(version);
}

function invalidRevision(version: string): string | undefined {
  if (/^\d*$/.test(version)) return undefined;
  const cause = `strconv.ParseUint: parsing ${quote(version)}: invalid syntax`;
  return `resourceVersion: Invalid value: ${quote(version)}: ${cause}`;
}

export function encodeContinue(token: ContinueToken): string {
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.startKey });
  return Buffer.from(json).toString('base64url');
}

function decodeContinue(token: string): ContinueToken {
  const value = parseJson(Buffer.from(token, 'base64url').toString()) as Json | undefined;
  const { v, rv, start }: JsonObject = isJsonObject(value) ? value : {};
  if (v !== 'meta.k8s.io/v1' || typeof rv !== 'number' || typeof start !== 'string')
    throw badRequest('invalid continue token: continue key is not valid');
  return { revision: rv, startKey: start };
}

/** @throws StatusError 422 with the broken rules */
function requireNone(rules: readonly (FieldError | false)[]): void {
  const errors = rules.filter((rule) => rule !== false);
  if (errors.length > 0) throw invalid({ kind: 'ListOptions', group: 'meta.k8s.io' }, '', errors);
}

function forbiddenMatch(why: string): FieldError {
  return forbidden(MATCH_FIELD, `resourceVersionMatch ${why}`);
}

function forbidden(field: string, why: string): FieldError {
  return { type: 'FieldValueForbidden', field, body: `Forbidden: ${why}` };
}

function notSupported(value: string, supported: readonly string[]): FieldError {
  const list = supported.map(quote).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field: MATCH_FIELD,
    body: `Unsupported value: ${quote(value)}: supported values: ${list}`,
  };
}

/**
 * Maps a kind, or a name as people type it, to the collection: client-go's RESTMapper. The table of built-in
 * resources answers without a request. For everything else the mapper reads the server's discovery documents and
 * keeps them. It reads them again when a kind is missing, at most once in `refreshIntervalMs`.
 *
 * When several groups serve the kind, the core group comes first, then the built-in groups, as in kubectl. When
 * several remain, the error names them.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { callback, clock as aClock, number, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { discover } from './discovery.ts';
import type { ApiResource, Discovery, DiscoveryDocument, GetJson, GroupVersion } from './discovery.ts';
import type { ResourceRef } from './resource.ts';
import { builtInResources } from './resources.ts';

/** A kind. Default version: the server's preferred version. Default group: any group that serves the kind. */
export interface KindName {
  /** '' for the core group. */
  readonly group?: string;
  /** `v1beta1` */
  readonly version?: string;
  /** `Deployment` */
  readonly kind: string;
}

/** The same with the resource's plural name. */
export interface ResourceName {
  /** '' for the core group. */
  readonly group?: string;
  /** `v1beta1` */
  readonly version?: string;
  /** Plural in lower case: `deployments`. */
  readonly resource: string;
}

/**
 * Names of a collection. Text is a plural, singular or short name or a kind; alone, with its group
 * (`deployments.apps`), or with version and group (`deployments.v1.apps`, `pods.v1`).
 */
export type KindLike = string | KindName | ResourceName | ResourceRef;

/** Options of a RestMapper. */
export interface RestMapperOptions {
  /** Reads discovery documents. */
  readonly getJson: GetJson;
  /** Minimum time between two readings of all documents after misses. Default 10,000. */
  readonly refreshIntervalMs?: number;
  /** Clock of `refreshIntervalMs`. Default: the real clock. */
  readonly clock?: Clock;
}

const CHECKS: OptionChecks<RestMapperOptions> = {
  getJson: callback,
  refreshIntervalMs: number(0, Infinity),
  clock: aClock,
};

interface KindQuery {
  readonly text: string;
  readonly group: string | undefined;
  readonly version: string | undefined;
  /** Returns a rank for the match, the lowest is best; undefined when there is none. */
  fit(resource: Pick<ApiResource, 'name' | 'kind'> & Partial<ApiResource>): number | undefined;
}

type Candidate = ResourceRef & { readonly verbs: readonly string[]; readonly fit: number };

const REFRESH_INTERVAL_MS = 10_000;
const WATCHABLE = ['list', 'watch'];
const NOT_A_KIND = 'a kind must be text, or { kind } or { resource }, with group and version if known';

/** Finds the resource of a kind, by the built-in kinds and by the server's discovery. */
export class RestMapper {
  readonly #getJson: GetJson;
  readonly #refreshIntervalMs: number;
  readonly #clock: Clock;
  #discovery: Discovery = { documents: [], failures: [] };
  /** Answers by requested name, until the documents are read again. */
  readonly #answers: Map<string, ResourceRef> = new Map();
  #refreshedAtMs: number = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  constructor(options: RestMapperOptions) {
    checkOptions('options of a RestMapper', options, CHECKS);
    const { getJson, refreshIntervalMs = REFRESH_INTERVAL_MS, clock = realClock } = options;
    callback('getJson', getJson);
    this.#getJson = getJson;
    this.#refreshIntervalMs = refreshIntervalMs;
    this.#clock = clock;
  }

  /**
   * Finds the collection, and reads discovery documents if the present documents do not suffice.
   *
   * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE when no group serves it, ERR_KUBELOOM_AMBIGUOUS_RESOURCE when several groups
   *   serve it, ERR_KUBELOOM_NOT_WATCHABLE when it cannot be listed and watched, and the error of `getJson`
   */
  async resourceFor(kind: KindLike): Promise<ResourceRef> {
    const known = this.find(kind);
    if (known) return known;
    const isDue = this.#clock.now() - this.#refreshedAtMs >= this.#refreshIntervalMs;
    if (isDue || this.#refreshing) await this.refresh();
    const found = this.find(kind);
    if (found) return found;
    throw unknownResource(queryOf(kind).text, this.#discovery.failures);
  }

  /**
   * Finds the collection without a request; undefined when the present documents do not suffice.
   *
   * @throws ERR_KUBELOOM_AMBIGUOUS_RESOURCE, ERR_KUBELOOM_NOT_WATCHABLE
   */
  find(kind: KindLike): ResourceRef | undefined {
    if (isResourceRef(kind)) return kind;
    const query = queryOf(kind);
    const known = this.#answers.get(query.text);
    if (known) return known;
    const builtIn = best(builtInCandidates(query));
    // Only the server's documents show which of several versions it serves and prefers.
    const found = builtIn.length === 1 ? builtIn : best(candidatesIn(this.#discovery.documents, query));
    requireOne(query, found);
    if (!found[0]) return undefined;
    const ref = watchable(query, found[0]);
    this.#answers.set(query.text, ref);
    return ref;
  }

  /** Reads all documents again. Concurrent calls share a round. */
  refresh(): Promise<void> {
    this.#refreshing ??= discover(this.#getJson, this.#discovery.documents)
      .then((discovery) => {
        this.#discovery = discovery;
        this.#answers.clear();
        this.#refreshedAtMs = this.#clock.now();
      })
      .finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }
}

/**
 * Finds the collection of a name as people type it, in the server's documents alone: the table of built-in resources
 * does not show what this server serves. Of several custom resources the first in the server's order counts.
 *
 * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE, ERR_KUBELOOM_NOT_WATCHABLE, and the error of `getJson`
 */
export async function findResource(name: string, getJson: GetJson): Promise<ResourceRef> {
  const { documents, failures } = await discover(getJson, []);
  const query = queryOfText(name);
  const [found] = best(candidatesIn(documents, query));
  if (!found) throw unknownResource(query.text, failures);
  return watchable(query, found);
}

function candidatesIn(documents: readonly DiscoveryDocument[], query: KindQuery): Candidate[] {
  return documents
    .filter((one) => isWanted(query, one))
    .flatMap(({ group, version, resources }) =>
      resources.flatMap((resource) => {
        const fit = query.fit(resource);
        const { name, kind, namespaced: isNamespaced, verbs } = resource;
        return fit === undefined ? [] : [{ group, version, resource: name, kind, isNamespaced, verbs, fit }];
      }),
    );
}

/** Returns the candidates that fit best, of these the candidates in the groups that come first. */
function best(candidates: readonly Candidate[]): readonly Candidate[] {
  const fit = Math.min(...candidates.map((one) => one.fit));
  const fitting = candidates.filter((one) => one.fit === fit);
  const rank = Math.min(...fitting.map(rankOf));
  return fitting.filter((one) => rankOf(one) === rank);
}

/** @throws ERR_KUBELOOM_AMBIGUOUS_RESOURCE unless all are versions of the same resource */
function requireOne({ text }: KindQuery, candidates: readonly Candidate[]): void {
  const names = new Set(candidates.map(({ group, resource }) => `${resource}.${group}`));
  if (names.size <= 1) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_AMBIGUOUS_RESOURCE',
    `${text} may be any of ${[...names].join(', ')}: add the group`,
  );
}

/** @throws ERR_KUBELOOM_NOT_WATCHABLE unless it can be listed and watched */
function watchable({ text }: KindQuery, found: Candidate): ResourceRef {
  const { group, version, resource, kind, isNamespaced, verbs } = found;
  if (WATCHABLE.every((verb) => verbs.includes(verb)))
    return { group, version, resource, kind, isNamespaced };
  throw new KubeloomError(
    'ERR_KUBELOOM_NOT_WATCHABLE',
    `${text} cannot be watched: the server offers only ${verbs.join(', ') || 'nothing'} for it`,
  );
}

function unknownResource(text: string, failures: readonly string[]): KubeloomError {
  const unread = failures.length > 0 ? ` Not readable: ${failures.join('; ')}.` : '';
  return new KubeloomError(
    'ERR_KUBELOOM_UNKNOWN_RESOURCE',
    `the server has no resource ${text}: looked for a plural, singular or short name or a kind, alone or ` +
      `with its group (pods, pod, po, deployments.apps).${unread} ` +
      '"kubectl api-resources" lists what there is',
  );
}

/** Returns whether the collection is fully described, so that no request is needed. */
function isResourceRef(kind: KindLike): kind is ResourceRef {
  return (
    typeof kind === 'object' &&
    kind !== null &&
    'isNamespaced' in kind &&
    [kind.group, kind.version, kind.resource, kind.kind].every((part) => typeof part === 'string') &&
    kind.version !== '' &&
    kind.resource !== ''
  );
}

/** @throws ERR_KUBELOOM_OPTION for a value that cannot be a kind */
function queryOf(kind: KindLike): KindQuery {
  if (typeof kind === 'string' && /^[^.]/.test(kind) && !kind.endsWith('.')) return queryOfText(kind);
  const { group, version } = typeof kind === 'object' ? (kind ?? {}) : {};
  const text = JSON.stringify(kind);
  const isOptionalText = (part: unknown): boolean => part === undefined || typeof part === 'string';
  if (typeof kind === 'object' && isOptionalText(group) && isOptionalText(version)) {
    if ('resource' in kind && isText(kind.resource)) {
      return { text, group, version, fit: ({ name }) => (name === kind.resource ? 0 : undefined) };
    }
    if ('kind' in kind && isText(kind.kind)) {
      return { text, group, version, fit: (resource) => (resource.kind === kind.kind ? 0 : undefined) };
    }
  }
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${NOT_A_KIND}; got ${text}`);
}

function queryOfText(text: string): KindQuery {
  const [name = '', ...rest] = text.toLowerCase().split('.');
  const suffix = rest.join('.');
  const [, version, versionedGroup] = /^(v\d[^.]*)(?:\.(.+))?$/.exec(suffix) ?? [];
  const group = suffix === '' ? undefined : version === undefined ? suffix : (versionedGroup ?? '');
  return {
    text: JSON.stringify(text),
    group,
    version,
    fit: ({ name: plural, kind, singularName = '', shortNames = [] }) => {
      if (name === '') return undefined;
      if (plural === name) return 0;
      if (kind.toLowerCase() === name || singularName === name) return 1;
      return shortNames.includes(name) ? 2 : undefined;
    },
  };
}

function isText(part: unknown): boolean {
  return typeof part === 'string' && part !== '';
}

function isWanted({ group, version }: KindQuery, one: GroupVersion): boolean {
  return (group === undefined || group === one.group) && (version === undefined || version === one.version);
}

function builtInCandidates(query: KindQuery): Candidate[] {
  return builtInResources()
    .filter((one) => isWanted(query, one))
    .flatMap((ref) => {
      const fit = query.fit({ name: ref.resource, kind: ref.kind });
      return fit === undefined ? [] : [{ ...ref, verbs: WATCHABLE, fit }];
    });
}

const BUILT_IN_GROUP_NAMES: ReadonlySet<string> = new Set(builtInResources().map(({ group }) => group));

function rankOf({ group }: GroupVersion): number {
  if (group === '') return 0;
  return BUILT_IN_GROUP_NAMES.has(group) ? 1 : 2;
}

/**
 * From a kind, or a name as people type it, to the collection that it is: client-go's RESTMapper. The table of
 * built-in resources answers without a request; for everything else the server's discovery documents are read,
 * kept, and read again when something is missing, but not more often than every so many seconds.
 *
 * When several groups have what was asked for, the core group counts, then the built-in ones, as for kubectl. When
 * several remain, that is an error which names them.
 */
import { realClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import {
  CORE,
  REQUESTS_MAX,
  groupVersions,
  resourcesOf,
  unknownResource,
  wantWatchable,
} from './discovery.ts';
import type { ApiResource, GetJson, GroupVersion } from './discovery.ts';
import type { ResourceRef } from './resource.ts';
import { builtInResources } from './resources.ts';

/** Without a version the server's preferred one; without a group whichever has it. */
export interface KindName {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
}

/** The same by the resource's plural name. */
export interface ResourceName {
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
}

/**
 * What a collection can be called. Text is a plural, singular or short name or a kind; alone, with its group
 * (`deployments.apps`), or with version and group (`deployments.v1.apps`, `pods.v1`).
 */
export type KindLike = string | KindName | ResourceName | ResourceRef;

export interface RestMapperOptions {
  /** How discovery documents are read. */
  readonly getJson: GetJson;
  /** After a miss all documents are read again, if that was at least so long ago. Default 10,000. */
  readonly refreshIntervalMs?: number;
  readonly clock?: Clock;
}

interface Wish {
  readonly said: string;
  readonly group: string | undefined;
  readonly version: string | undefined;
  /** A number for how well it fits, the least counts; undefined when it does not. */
  fit(resource: Pick<ApiResource, 'name' | 'kind'> & Partial<ApiResource>): number | undefined;
}

type Candidate = ResourceRef & { readonly verbs: readonly string[]; readonly fit: number };

const REFRESH_INTERVAL_MS = 10_000;
const WATCHABLE = ['list', 'watch'];
const NOT_A_KIND =
  'a kind is text, or { kind } or { resource } with group and version as far as they are known';

export class RestMapper {
  readonly #getJson: GetJson;
  readonly #refreshIntervalMs: number;
  readonly #clock: Clock;
  /** By group and version, in the order of preference. */
  #documents: ReadonlyMap<string, GroupVersion & { readonly resources: readonly ApiResource[] }> = new Map();
  /** By what was said, until the documents are read again. */
  readonly #answers: Map<string, ResourceRef> = new Map();
  #failures: readonly string[] = [];
  #refreshedAtMs: number = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  constructor({ getJson, refreshIntervalMs = REFRESH_INTERVAL_MS, clock = realClock }: RestMapperOptions) {
    if (!(refreshIntervalMs >= 0)) {
      const message = `refreshIntervalMs must be a number from 0, got ${refreshIntervalMs}`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#getJson = getJson;
    this.#refreshIntervalMs = refreshIntervalMs;
    this.#clock = clock;
  }

  /**
   * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE when nobody has it, ERR_KUBELOOM_AMBIGUOUS_RESOURCE when several groups
   *   have, ERR_KUBELOOM_NOT_WATCHABLE when it cannot be listed and watched, and what `getJson` throws
   */
  async resourceFor(kind: KindLike): Promise<ResourceRef> {
    const known = this.find(kind);
    if (known) return known;
    await this.#refreshIfDue();
    const found = this.find(kind);
    if (found) return found;
    throw unknownResource(wishOf(kind).said, this.#failures);
  }

  /**
   * The same from what is known by now, without a request; undefined when that does not tell.
   *
   * @throws ERR_KUBELOOM_AMBIGUOUS_RESOURCE, ERR_KUBELOOM_NOT_WATCHABLE
   */
  find(kind: KindLike): ResourceRef | undefined {
    if (isResourceRef(kind)) return kind;
    const wish = wishOf(kind);
    const known = this.#answers.get(wish.said);
    if (known) return known;
    const builtIn = this.#only(wish, builtInCandidates(wish));
    // Which of several versions the server prefers, and has, only the server can tell.
    const [found] = builtIn.length === 1 ? builtIn : this.#only(wish, this.#candidates(wish));
    if (!found) return undefined;
    const { group, version, resource, kind: name, isNamespaced, verbs } = found;
    wantWatchable(wish.said, verbs);
    const ref: ResourceRef = { group, version, resource, kind: name, isNamespaced };
    this.#answers.set(wish.said, ref);
    return ref;
  }

  /** Reads all documents again. Calls at the same time share one round. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #refreshIfDue(): Promise<void> {
    const isDue = this.#clock.now() - this.#refreshedAtMs >= this.#refreshIntervalMs;
    if (isDue || this.#refreshing) await this.refresh();
  }

  async #refresh(): Promise<void> {
    const failures: string[] = [];
    const all = [CORE, ...(await groupVersions(this.#getJson))];
    const documents = new Map<string, GroupVersion & { readonly resources: readonly ApiResource[] }>();
    for (let start = 0; start < all.length; start += REQUESTS_MAX) {
      const batch = all.slice(start, start + REQUESTS_MAX);
      const read = await Promise.all(batch.map((one) => this.#read(one, failures)));
      batch.forEach((groupVersion, at) => {
        const key = `${groupVersion.group}/${groupVersion.version}`;
        // What one broken group said before is better than nothing.
        const resources = read[at] ?? this.#documents.get(key)?.resources;
        if (resources) documents.set(key, { ...groupVersion, resources });
      });
    }
    this.#documents = documents;
    this.#answers.clear();
    this.#failures = failures;
    this.#refreshedAtMs = this.#clock.now();
  }

  async #read(one: GroupVersion, failures: string[]): Promise<readonly ApiResource[] | undefined> {
    try {
      return await resourcesOf(one, this.#getJson);
    } catch (error) {
      failures.push(`${one.group}/${one.version}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  #candidates(wish: Wish): Candidate[] {
    return [...this.#documents.values()]
      .filter((one) => isWanted(wish, one))
      .flatMap(({ group, version, resources }) =>
        resources.flatMap((resource) => {
          const fit = wish.fit(resource);
          const { name, kind, namespaced: isNamespaced, verbs } = resource;
          return fit === undefined
            ? []
            : [{ group, version, resource: name, kind, isNamespaced, verbs, fit }];
        }),
      );
  }

  /** Of the group that counts all versions, the preferred first. */
  #only(wish: Wish, candidates: readonly Candidate[]): readonly Candidate[] {
    const best = Math.min(...candidates.map(({ fit }) => fit));
    const fitting = candidates.filter(({ fit }) => fit === best);
    const rank = Math.min(...fitting.map(rankOf));
    const counting = fitting.filter((one) => rankOf(one) === rank);
    const [first] = counting;
    const others = counting.filter(
      ({ group, resource }) => group !== first?.group || resource !== first.resource,
    );
    if (!first || others.length === 0) return counting;
    const names = [...new Set([first, ...others].map(({ group, resource }) => `${resource}.${group}`))];
    throw new KubeloomError(
      'ERR_KUBELOOM_AMBIGUOUS_RESOURCE',
      `${wish.said} may be any of ${names.join(', ')}: say which`,
    );
  }
}

/** The collection is described in full: nobody needs to be asked. */
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

/** @throws ERR_KUBELOOM_OPTION for what cannot be a kind */
function wishOf(kind: KindLike): Wish {
  if (typeof kind === 'string') return wishOfText(kind);
  const { group, version } = kind ?? {};
  const said = JSON.stringify(kind);
  const isOptionalText = (part: unknown): boolean => part === undefined || typeof part === 'string';
  if (typeof kind === 'object' && isOptionalText(group) && isOptionalText(version)) {
    if ('resource' in kind && isText(kind.resource)) {
      return { said, group, version, fit: ({ name }) => (name === kind.resource ? 0 : undefined) };
    }
    if ('kind' in kind && isText(kind.kind)) {
      return { said, group, version, fit: (resource) => (resource.kind === kind.kind ? 0 : undefined) };
    }
  }
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${NOT_A_KIND}; got ${said}`);
}

function wishOfText(text: string): Wish {
  const [name = '', ...rest] = text.toLowerCase().split('.');
  const suffix = rest.join('.');
  if (name === '' || text.endsWith('.')) {
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${NOT_A_KIND}; got ${JSON.stringify(text)}`);
  }
  const [, version, versionedGroup] = /^(v\d[^.]*)(?:\.(.+))?$/.exec(suffix) ?? [];
  const group = suffix === '' ? undefined : version === undefined ? suffix : (versionedGroup ?? '');
  return {
    said: JSON.stringify(text),
    group,
    version,
    fit: ({ name: plural, kind, singularName = '', shortNames = [] }) => {
      if (plural === name) return 0;
      if (kind.toLowerCase() === name || singularName === name) return 1;
      return shortNames.includes(name) ? 2 : undefined;
    },
  };
}

function isText(part: unknown): boolean {
  return typeof part === 'string' && part !== '';
}

function isWanted({ group, version }: Wish, one: GroupVersion): boolean {
  return (group === undefined || group === one.group) && (version === undefined || version === one.version);
}

function builtInCandidates(wish: Wish): Candidate[] {
  return builtInResources()
    .filter((one) => isWanted(wish, one))
    .flatMap((ref) => {
      const fit = wish.fit({ name: ref.resource, kind: ref.kind });
      return fit === undefined ? [] : [{ ...ref, verbs: WATCHABLE, fit }];
    });
}

const BUILT_IN_GROUP_NAMES: ReadonlySet<string> = new Set(builtInResources().map(({ group }) => group));

function rankOf({ group }: GroupVersion): number {
  if (group === '') return 0;
  return BUILT_IN_GROUP_NAMES.has(group) ? 1 : 2;
}

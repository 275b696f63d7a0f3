/** The options of requests for objects, their checks, and their query parameters. */
import {
  callback,
  clock,
  flag,
  integer,
  naming,
  oneOf,
  invalidOption,
  signal,
  text,
} from '../../base/option-checks.ts';
import type { OptionCheck, OptionChecks } from '../../base/option-checks.ts';
import type { Clock } from '../../base/clock.ts';
import { parseFieldSelector } from '../../kube/field-selector.ts';
import { parseLabelSelector } from '../../kube/label-selector.ts';
import { isNamespaceName } from '../../kube/resource.ts';
import type { PatchType } from './patches.ts';

/** Receives the text of a warning that the server sent with the answer to `request`, such as `GET /api/v1/pods`. */
export type WarningListener = (text: string, request: string) => unknown;

/** Options of a client. */
export interface ObjectClientOptions {
  /** Default of the option `fieldManager` of every write. */
  readonly fieldManager?: string;
  /** Receives the server's warnings. Default: a process warning for each text, once. */
  readonly onWarning?: WarningListener;
  /** Clock of the delays between repeated reads. Default: the real clock. */
  readonly clock?: Clock;
}

/** Options of a request. */
export interface RequestOptions {
  /** Ends the wait for the answer; a write may still happen. */
  readonly signal?: AbortSignal;
}

/** Options of a read. */
export interface GetOptions<S extends string = string> extends RequestOptions {
  /** Part of the object with a separate path: `status`, `scale`. */
  readonly subresource?: S;
  /** `'0'` allows any state of the server's cache. Default: the newest state. */
  readonly resourceVersion?: string;
}

/** Options of a write without a body of the kind's type. */
export interface WriteOptions extends RequestOptions {
  /**
   * The server does everything except storing: it validates, sets defaults, calls admission, and returns the result.
   */
  readonly dryRun?: boolean | 'All';
  /** Name of the owner of the written fields, at most 128 characters. */
  readonly fieldManager?: string;
  /** Treatment of unknown fields and of fields that occur twice. Default: the server's default, `Warn`. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

/** Options of a write. */
export interface ObjectWriteOptions<S extends string = string> extends WriteOptions {
  /** Part of the object with a separate path: `status`, `scale`, `eviction`, `binding`, `token`, or another name. */
  readonly subresource?: S;
}

/** Options of a patch. */
export interface PatchOptions<
  K extends PatchType = PatchType,
  S extends string = string,
> extends ObjectWriteOptions<S> {
  /** Kind of the patch. `strategic` is for built-in kinds. Default: `merge`. */
  readonly type?: K;
}

/** Options of a server-side apply. */
export interface ApplyOptions<S extends string = string> extends ObjectWriteOptions<S> {
  /**
   * Takes over the fields that another manager owns. Default: false; such a field causes ERR_KUBELOOM_APPLY_CONFLICT.
   */
  readonly force?: boolean;
}

interface DeletionOptions extends RequestOptions {
  /** Seconds until the server removes the object; 0: at once. Default: the server's for the object. */
  readonly gracePeriodSeconds?: number;
  /**
   * Treatment of the objects that this object owns, by the garbage collector. Default: the server's for the resource.
   */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** The server checks the deletion and deletes no object. */
  readonly dryRun?: boolean | 'All';
}

/** Options of a deletion. */
export interface DeleteOptions extends DeletionOptions {
  /** Deletes the object only if this is its uid; otherwise the call throws ERR_KUBELOOM_CONFLICT. */
  readonly uid?: string;
  /** Deletes the object only in this version; otherwise the call throws ERR_KUBELOOM_CONFLICT. */
  readonly resourceVersion?: string;
}

interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** `app=web,tier!=cache`. Default: all objects. */
  readonly labelSelector?: string;
  /** `spec.nodeName=node-7`. Default: all objects. */
  readonly fieldSelector?: string;
}

/** Options of a deletion of several objects. */
export interface DeleteCollectionOptions extends DeletionOptions, Selection {
  /** Required for a namespaced resource. */
  readonly namespace?: string;
}

/** Options of a LIST or WATCH, as the API has them. */
export interface ListOptions extends RequestOptions, Selection {
  /** Objects a page. Default: 500. */
  readonly limit?: number;
  /** Version of the first page; the others continue it. Default: the newest state. */
  readonly resourceVersion?: string;
  /**
   * `Exact`: the state at `resourceVersion`; `NotOlderThan`: this or a newer state. Only with `resourceVersion`;
   * otherwise the call throws ERR_KUBELOOM_OPTION.
   */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /**
   * true: if the server dropped the state of the first page, the rest comes from a newer state. Default: false; the
   * iteration throws ERR_KUBELOOM_GONE.
   */
  readonly allowInconsistent?: boolean;
}

const FIELD_MANAGER_CHARACTERS_MAX = 128;

const dryRun: OptionCheck = (name, value) => {
  if (typeof value !== 'boolean' && value !== 'All') invalidOption(name, value, "true, false or 'All'");
};

const fieldManager: OptionCheck = (name, value) => {
  const isName =
    typeof value === 'string' &&
    value !== '' &&
    value.length <= FIELD_MANAGER_CHARACTERS_MAX &&
    !/\p{C}/u.test(value);
  if (!isName)
    invalidOption(name, value, `a name of 1 to ${FIELD_MANAGER_CHARACTERS_MAX} printable characters`);
};

const namespace: OptionCheck = (name, value) => {
  if (typeof value !== 'string' || !isNamespaceName(value))
    invalidOption(name, value, 'the name of a namespace');
};

const SUBRESOURCE = /^[a-z][a-z0-9]*(?:[-/][a-z0-9]+)*$/;
const subresource: OptionCheck = (name, value) => {
  if (typeof value !== 'string' || !SUBRESOURCE.test(value))
    invalidOption(name, value, "the name of a subresource, such as 'status' or 'scale'");
};

/**
 * Without a shard selector: deleting a part of a kind would delete objects that a client with other parts expects to
 * keep.
 */
const SELECTION_CHECKS: OptionChecks<Selection> = {
  namespace,
  labelSelector: naming(parseLabelSelector),
  fieldSelector: naming(parseFieldSelector),
};

export const CLIENT_CHECKS: OptionChecks<ObjectClientOptions> = { fieldManager, onWarning: callback, clock };
export const GET_CHECKS: OptionChecks<GetOptions> = { signal, subresource, resourceVersion: text };
export const WRITE_CHECKS: OptionChecks<WriteOptions> = {
  signal,
  dryRun,
  fieldManager,
  fieldValidation: oneOf('Strict', 'Warn', 'Ignore'),
};
export const OBJECT_WRITE_CHECKS: OptionChecks<ObjectWriteOptions> = { ...WRITE_CHECKS, subresource };
export const PATCH_CHECKS: OptionChecks<PatchOptions> = {
  ...OBJECT_WRITE_CHECKS,
  type: oneOf('merge', 'json', 'strategic'),
};
export const APPLY_CHECKS: OptionChecks<ApplyOptions> = { ...OBJECT_WRITE_CHECKS, force: flag };
const DELETION_CHECKS: OptionChecks<DeletionOptions> = {
  signal,
  gracePeriodSeconds: integer(0),
  propagationPolicy: oneOf('Orphan', 'Background', 'Foreground'),
  dryRun,
};
export const DELETE_CHECKS: OptionChecks<DeleteOptions> = {
  ...DELETION_CHECKS,
  uid: text,
  resourceVersion: text,
};
export const DELETE_COLLECTION_CHECKS: OptionChecks<DeleteCollectionOptions> = {
  ...DELETION_CHECKS,
  ...SELECTION_CHECKS,
};
export const LIST_CHECKS: OptionChecks<ListOptions> = {
  signal,
  ...SELECTION_CHECKS,
  limit: integer(1),
  resourceVersion: text,
  resourceVersionMatch: oneOf('Exact', 'NotOlderThan'),
  allowInconsistent: flag,
};

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns the path with the parameters that have a value. */
export function withQuery(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '' && value !== false) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Returns the parameters of a write that POST, PUT and PATCH share. */
export function writeParameters(options: WriteOptions, defaultManager: string | undefined): Parameters {
  const { fieldManager: manager = defaultManager, fieldValidation } = options;
  return { dryRun: isDryRun(options) ? 'All' : undefined, fieldManager: manager, fieldValidation };
}

export function isDryRun({ dryRun: given }: Pick<WriteOptions, 'dryRun'>): boolean {
  return given === true || given === 'All';
}

/** Returns the body of a deletion. */
export function deletionBody(options: DeletionOptions, preconditions = {}): object {
  const { gracePeriodSeconds, propagationPolicy } = options;
  const type = { kind: 'DeleteOptions', apiVersion: 'v1' };
  const dry = isDryRun(options) ? { dryRun: ['All'] } : {};
  return { ...type, gracePeriodSeconds, propagationPolicy, ...dry, preconditions };
}

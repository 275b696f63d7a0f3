/** Checks of objects of unknown shape: their type, and the end of a streaming list. */
import { nested, invalidOption, text } from '../../base/option-checks.ts';
import type { OptionCheck } from '../../base/option-checks.ts';
import { isRecord, metadataAtHand } from '../../kube/meta-shape.ts';

/** The kind that a reflector expects. */
export interface ExpectedType {
  /** `Deployment`. An object without a kind matches. */
  readonly kind: string;
  /** `v1` or `apps/v1`; undefined: any. */
  readonly apiVersion?: string;
}

export const anExpectedType: OptionCheck = (name, value) => {
  nested<ExpectedType>({ kind: text, apiVersion: text })(name, value);
  if ((value as ExpectedType).kind === undefined) invalidOption(`${name}.kind`, undefined, 'text');
};

/** Returns whether it is the bookmark after the last object of a streaming list. */
export function isInitialEventsEnd(object: unknown): boolean {
  const annotations = metadataAtHand(object)?.['annotations'];
  return isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true';
}

/** Returns whether it is a Table, which contains printable rows instead of objects, for clients that request it. */
export function isTable(object: unknown): boolean {
  if (!isRecord(object) || object['kind'] !== 'Table') return false;
  const { apiVersion } = object;
  return apiVersion === 'meta.k8s.io/v1' || apiVersion === 'meta.k8s.io/v1beta1';
}

/** Returns whether the object is of the type. A field that the object omits matches any value. */
export function isOfType(object: unknown, expected: ExpectedType): boolean {
  if (!isRecord(object)) return false;
  const { kind = expected.kind, apiVersion = expected.apiVersion } = object;
  const isVersionRight = expected.apiVersion === undefined || apiVersion === expected.apiVersion;
  return kind === expected.kind && isVersionRight;
}

/** Returns the type for messages: `apps/v1, Kind=Deployment`. */
export function describeType(expected: ExpectedType | undefined): string {
  if (expected === undefined) return '<unspecified>';
  return expected.apiVersion === undefined ? expected.kind : `${expected.apiVersion}, Kind=${expected.kind}`;
}

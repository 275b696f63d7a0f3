/** What a reflector looks at in objects that can be anything: their type, and the end of a streaming list. */
import { isRecord, metadataAtHand } from '../kube/meta-shape.ts';

export interface ExpectedType {
  readonly kind: string;
  /** `v1` or `apps/v1`; any without. */
  readonly apiVersion?: string;
}

/** The bookmark after the last object of a streaming list. */
export function isInitialEventsEnd(object: unknown): boolean {
  const annotations = metadataAtHand(object)?.['annotations'];
  return isRecord(annotations) && annotations['k8s.io/initial-events-end'] === 'true';
}

/** Rows for people, from a client that asked for them: nothing that could be stored. */
export function isTable(object: unknown): boolean {
  if (!isRecord(object) || object['kind'] !== 'Table') return false;
  const { apiVersion } = object;
  return apiVersion === 'meta.k8s.io/v1' || apiVersion === 'meta.k8s.io/v1beta1';
}

/** What an object does not say of itself is not held against it. */
export function isOfType(object: unknown, expected: ExpectedType): boolean {
  if (!isRecord(object)) return false;
  const { kind = expected.kind, apiVersion = expected.apiVersion } = object;
  const isVersionRight = expected.apiVersion === undefined || apiVersion === expected.apiVersion;
  return kind === expected.kind && isVersionRight;
}

/** For people: `apps/v1, Kind=Deployment`. */
export function describeType(expected: ExpectedType | undefined): string {
  if (expected === undefined) return '<unspecified>';
  return expected.apiVersion === undefined ? expected.kind : `${expected.apiVersion}, Kind=${expected.kind}`;
}

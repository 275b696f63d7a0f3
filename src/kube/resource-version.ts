/**
 * The order of resourceVersions. Since Kubernetes 1.35 they are documented as decimal numbers that clients may
 * compare, of any length, within one collection of one server. So they are compared as text: a number would
 * lose the last digits of long ones, and `'9' < '10'` is false.
 */
import { KubeloomError } from '../errors.ts';

const DECIMAL = /^(?:0|[1-9][0-9]*)$/;

/**
 * Whether this one has a place in the order. The empty one has not: in requests it means "the most recent", in
 * objects "never stored", and neither is older or newer than anything.
 */
export function isComparableResourceVersion(resourceVersion: string): boolean {
  // Also of those who do not check types: a number would pass the pattern, and compare as nothing.
  return typeof resourceVersion === 'string' && DECIMAL.test(resourceVersion);
}

/**
 * Negative when `a` is older than `b`, 0 when they are the same, positive when it is newer; fits `sort`.
 * `'0'` is older than everything.
 *
 * @throws ERR_KUBELOOM_RESOURCE_VERSION for whatever is not decimal digits without a leading zero, '' included
 */
export function compareResourceVersions(a: string, b: string): number {
  wantComparable(a);
  wantComparable(b);
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** False also when one of them has no place in the order: then nothing is known. */
export function isOlderResourceVersion(a: string, b: string): boolean {
  return (
    isComparableResourceVersion(a) && isComparableResourceVersion(b) && compareResourceVersions(a, b) < 0
  );
}

/** @throws ERR_KUBELOOM_RESOURCE_VERSION unless it is comparable */
export function wantComparable(resourceVersion: string): void {
  if (isComparableResourceVersion(resourceVersion)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_RESOURCE_VERSION',
    `"${resourceVersion}" cannot be compared: only decimal resourceVersions have an order, and the empty one ` +
      'has no place in it. Take metadata.resourceVersion from the answer to a write',
  );
}

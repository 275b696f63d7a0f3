/**
 * The order of resourceVersions. Since Kubernetes 1.35 they are documented as decimal numbers of any length that
 * clients may compare within a collection of a server. The comparison works on text: a JavaScript number
 * would lose the last digits of long versions, and as strings `'9' < '10'` is false.
 */
import { KubeloomError } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';

const DECIMAL = /^(?:0|[1-9][0-9]*)$/;

/**
 * Returns whether the version has a place in the order. The empty version has none: in requests it means "the most
 * recent", in objects "never stored".
 */
export function isComparableResourceVersion(resourceVersion: string): boolean {
  // A check at run time: a number would match the pattern and compare wrongly.
  return typeof resourceVersion === 'string' && DECIMAL.test(resourceVersion);
}

/**
 * Returns a negative number when `a` is older than `b`, 0 when they are equal, a positive number when it is newer;
 * fits `sort`. `'0'` is older than everything.
 *
 * @throws ERR_KUBELOOM_RESOURCE_VERSION unless it is decimal digits without a leading zero; also for ''
 */
export function compareResourceVersions(a: string, b: string): number {
  checkComparable(a);
  checkComparable(b);
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns whether `a` is older. False also when either version has no place in the order. */
export function isOlderResourceVersion(a: string, b: string): boolean {
  return (
    isComparableResourceVersion(a) && isComparableResourceVersion(b) && compareResourceVersions(a, b) < 0
  );
}

/** @throws ERR_KUBELOOM_RESOURCE_VERSION unless it is comparable */
export function checkComparable(resourceVersion: string): void {
  if (isComparableResourceVersion(resourceVersion)) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_RESOURCE_VERSION',
    `${shown(resourceVersion)} cannot be compared: only decimal resourceVersions have an order, and the empty one ` +
      'has none. Take metadata.resourceVersion from the response to a write',
  );
}

/** Which collection of an apiserver is meant, and its URL. */

export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case: `pods`. */
  readonly resource: string;
  /** `Pod`. */
  readonly kind: string;
  readonly isNamespaced: boolean;
}

/** `v1` or `apps/v1`. */
export function apiVersionOf(ref: Pick<ResourceRef, 'group' | 'version'>): string {
  return ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
}

/** `/api/v1/pods`, `/apis/apps/v1/namespaces/web/deployments`. */
export function resourcePath(
  ref: Pick<ResourceRef, 'group' | 'version' | 'resource' | 'isNamespaced'>,
  namespace = '',
): string {
  const base = ref.group === '' ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  const scope = namespace !== '' && ref.isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${base}${scope}/${ref.resource}`;
}

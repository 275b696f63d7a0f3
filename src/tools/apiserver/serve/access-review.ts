/** SelfSubjectAccessReview: asks whether the caller may send a request. It is answered, not stored. */

import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';

const RESOURCE = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

/** There is a single token, and requests with it may do everything. */
export const ACCESS_REVIEWS: ServedResource = {
  ...RESOURCE,
  verbs: ['create'],
  review: (question) => {
    const { kind } = RESOURCE;
    return { ...question, kind, apiVersion: apiVersionOf(RESOURCE), status: { allowed: true } };
  },
};

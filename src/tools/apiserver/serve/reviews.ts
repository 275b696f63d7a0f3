/** Reviews of the caller: who the caller is, and what the caller may do. They are answered, not stored. */

import { discovered } from '../shapes/built-in-resources.ts';
import { builtInKinds } from '../shapes/shapes.ts';
import type { JsonObject } from '../store/json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';

/** There is a single token, and requests with it may do everything. */
const ANSWERS: Readonly<Record<string, JsonObject>> = {
  selfsubjectaccessreviews: { allowed: true },
  selfsubjectreviews: {
    userInfo: { username: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] },
  },
  selfsubjectrulesreviews: {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  },
};

function reviewOf(resource: ServedResource, status: JsonObject): ServedResource {
  const { kind } = resource;
  const review: ServedResource['review'] = (question) => {
    return { ...question, kind, apiVersion: apiVersionOf(resource), status };
  };
  return { ...resource, review };
}

/** Returns the reviews of the caller. */
export function reviews(): ServedResource[] {
  return builtInKinds().resources.flatMap((resource) => {
    const status = ANSWERS[resource.resource];
    return status === undefined ? [] : [reviewOf(discovered(resource), status)];
  });
}

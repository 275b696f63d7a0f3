/** The status that a server gives to a new object, whatever the request contains. */

import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { members, objects, text } from '../store/causes.ts';
import type { ServedResource } from '../store/resources.ts';
import { qualifiedName } from '../store/status.ts';
import { resolved, shapeOf } from '../shapes/shapes.ts';
import { withZeros } from '../shapes/zero-values.ts';

const COMPUTED = ['cpu', 'memory'];

/** Returns the class of a Pod by which a node decides about evictions. */
function qosClass(spec: JsonObject): string {
  const consumers =
    spec['resources'] === undefined
      ? [...objects(spec['containers']), ...objects(spec['initContainers'])]
      : [spec];
  const amounts = consumers.map(({ resources }) => {
    const [requests, limits] = [memberOf(resources, 'requests'), memberOf(resources, 'limits')];
    return COMPUTED.map((name) => ({ request: amount(requests, name), limit: amount(limits, name) }));
  });
  if (amounts.flat().every(({ request, limit }) => request === '' && limit === '')) return 'BestEffort';
  const isLimited = amounts
    .flat()
    .every(({ request, limit }) => limit !== '' && [limit, ''].includes(request));
  return isLimited ? 'Guaranteed' : 'Burstable';
}

/** Returns the canonical text of a quantity; '' for no quantity or zero. */
function amount(quantities: Json | undefined, name: string): string {
  const quantity = text(memberOf(quantities, name));
  return quantity === '0' ? '' : quantity;
}

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** Members that the registries of some kinds set, beyond the zero value of the status. */
const INITIAL: Readonly<Record<string, (object: KubeObject) => JsonObject>> = {
  'customresourcedefinitions.apiextensions.k8s.io': ({ spec }) => ({
    storedVersions: objects(memberOf(spec, 'versions')).flatMap(({ name, storage }) =>
      storage === true ? [text(name)] : [],
    ),
  }),
  namespaces: () => ({ phase: 'Active' }),
  nodes: ({ status }) => members(status),
  persistentvolumeclaims: () => ({ phase: 'Pending' }),
  persistentvolumes: ({ metadata: { creationTimestamp = '' } }) => ({
    phase: 'Pending',
    lastPhaseTransitionTime: creationTimestamp,
  }),
  pods: ({ spec, metadata: { creationTimestamp = '' } }) => ({
    phase: 'Pending',
    qosClass: qosClass(members(spec)),
    ...(objects(memberOf(spec, 'schedulingGates')).length === 0
      ? {}
      : { conditions: [{ ...GATED, lastTransitionTime: creationTimestamp }] }),
  }),
};

/** Returns the status of a new object; undefined for a kind that is not built in. */
export function initialStatus(definition: ServedResource, object: KubeObject): Json | undefined {
  return completeStatus(definition, INITIAL[qualifiedName(definition)]?.(object));
}

/** Returns the status of an update with the zeros that Go writes. A Pod keeps its class. */
export function updatedStatus(
  definition: ServedResource,
  status: Json | undefined,
  before: Json | undefined,
): Json | undefined {
  const qosClass = memberOf(before, 'qosClass');
  const kept = qosClass === undefined || !isJsonObject(status) ? status : { qosClass, ...status };
  return completeStatus(definition, kept);
}

function completeStatus(
  { group, version, kind, custom }: ServedResource,
  status: Json | undefined,
): Json | undefined {
  const shape = custom === true ? undefined : shapeOf(group, version, kind);
  const type = shape && resolved(shape).properties?.['status'];
  return type === undefined ? status : withZeros(status, type);
}

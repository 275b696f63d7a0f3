/** The subresources of a Pod that act on it: `binding`, by which a scheduler assigns a node, and `eviction`. */

import { labelSelectorAsSelector } from '../../../kube/label-selector.ts';
import type { LabelSelectorObject } from '../../../kube/label-selector.ts';
import { members, objects, text } from '../store/causes.ts';
import type { Collection } from '../store/event-log.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { badRequest, bareFailure, conflict, disruptionBudget, notFound } from '../store/status.ts';
import { keyOf } from '../store/stored-object.ts';
import { timestamp } from './object-preparation.ts';
import { checkPreconditions } from './writer.ts';
import type { StoredObjectWriter, WriteOptions } from './writer.ts';

/** The kinds of the bodies, by the name of the subresource. */
export const POD_ACTIONS: ReadonlyMap<string, ServedResource> = new Map([
  ['binding', { group: '', version: 'v1', resource: 'bindings', kind: 'Binding', namespaced: true }],
  ['eviction', { group: 'policy', version: 'v1', resource: 'evictions', kind: 'Eviction', namespaced: true }],
]);

interface Parts {
  readonly writer: StoredObjectWriter;
  readonly pods: Collection;
  readonly budgets: Collection;
}

interface Target {
  readonly namespace: string;
  readonly name: string;
}

/** Assigns the Pod to the node of a Binding. @throws StatusError */
export function bind({ writer, pods }: Parts, target: Target, body: KubeObject, options: WriteOptions): void {
  checkBodyName(target, body, 'Binding');
  const [node, kind = ''] = [memberOf(body['target'], 'name'), memberOf(body['target'], 'kind')];
  if (kind !== '' && kind !== 'Node')
    throw bareFailure(
      `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
    );
  if (typeof node !== 'string' || node === '') throw bareFailure('target.name: Required value');
  const pod = podOf(pods, target);
  const { name } = target;
  const spec = members(pod['spec']);
  const assigned = spec['nodeName'];
  if (typeof assigned === 'string' && assigned !== '') {
    const why = `pod ${name} is already assigned to node ${JSON.stringify(assigned)}`;
    throw conflict({ ...pods.definition, resource: 'pods/binding' }, name, why);
  }
  const { metadata } = pod;
  const annotations = { ...metadata.annotations, ...body.metadata.annotations };
  const status = members(pod['status']);
  const bound = {
    ...pod,
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: withCondition(status['conditions'], { type: 'PodScheduled' }) },
  };
  writer.update(pods, keyOf(target.namespace, name), bound, 'binding', options);
}

function withCondition(conditions: Json | undefined, condition: JsonObject): Json[] {
  const others = Array.isArray(conditions)
    ? conditions.filter((each) => memberOf(each, 'type') !== condition['type'])
    : [];
  return [...others, { status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(), ...condition }];
}

/** Deletes the Pod if the disruption budget allows it. @throws StatusError 429 if the budget does not */
export function evict(
  { writer, pods, budgets }: Parts,
  target: Target,
  body: KubeObject,
  options: WriteOptions,
): void {
  checkBodyName(target, body, 'Eviction');
  const pod = podOf(pods, target);
  const [budget, ...others] = needsBudget(pod) ? budgetsOf(budgets, target.namespace, pod) : [];
  if (others.length > 0) {
    const why =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw bareFailure(why);
  }
  if (budget !== undefined) spend(writer, budgets, budget, pod, options);
  const { preconditions = {}, ...rest } = options;
  const key = keyOf(target.namespace, target.name);
  const stored = pods.get(key);
  if (stored !== undefined) checkPreconditions(pods.definition, stored, preconditions);
  if (options.dryRun !== true) {
    const status = members(pod['status']);
    const conditions = withCondition(status['conditions'], EVICTED);
    writer.update(pods, key, { ...pod, status: { ...status, conditions } }, 'status', rest);
  }
  writer.delete(pods, key, target.name, rest);
}

const EVICTED = {
  type: 'DisruptionTarget',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

function podOf(pods: Collection, { namespace, name }: Target): KubeObject {
  const stored = pods.get(keyOf(namespace, name));
  if (stored === undefined) throw notFound(pods.definition, name);
  return stored.parse();
}

function checkBodyName({ name }: Target, body: KubeObject, kind: string): void {
  if (body.metadata.name !== name) throw badRequest(`name in URL does not match name in ${kind} object`);
}

/** A Pod that does not run, or that is already being deleted, needs no budget. */
function needsBudget({ metadata, status }: KubeObject): boolean {
  const phase = memberOf(status, 'phase');
  return (
    metadata.deletionTimestamp === undefined &&
    phase !== 'Pending' &&
    phase !== 'Succeeded' &&
    phase !== 'Failed'
  );
}

function budgetsOf(budgets: Collection, namespace: string, { metadata }: KubeObject): KubeObject[] {
  return budgets
    .keys()
    .flatMap((key) => budgets.get(key)?.parse() ?? [])
    .filter((budget) => budget.metadata.namespace === namespace)
    .filter(({ spec }) => labelSelectorAsSelector(selectorOf(spec as Json)).matches(metadata.labels ?? {}));
}

function selectorOf(spec: Json | undefined): LabelSelectorObject | undefined {
  const selector = memberOf(spec, 'selector');
  return isJsonObject(selector) ? selector : undefined;
}

function numberOf(status: JsonObject, name: string): number {
  const value = status[name];
  return typeof value === 'number' ? value : 0;
}

function spend(
  writer: StoredObjectWriter,
  budgets: Collection,
  budget: KubeObject,
  pod: KubeObject,
  options: WriteOptions,
): void {
  const { name = '', namespace = '', generation = 0 } = budget.metadata;
  const status = members(budget['status']);
  const [healthy, desired] = [numberOf(status, 'currentHealthy'), numberOf(status, 'desiredHealthy')];
  if (!isReady(pod)) {
    const policy = memberOf(budget['spec'], 'unhealthyPodEvictionPolicy');
    if (policy === 'AlwaysAllow' || (desired > 0 && healthy >= desired)) return;
  }
  if (numberOf(status, 'observedGeneration') < generation) {
    throw disruptionBudget(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = numberOf(status, 'disruptionsAllowed');
  const { conditions } = status;
  if (allowed <= 0) throw disruptionBudget(`The disruption budget ${name} ${obstacle(status)}`, 0);
  const disrupted = members(status['disruptedPods']);
  const { observedGeneration = 0 } = status;
  const last = { ...NONE_ALLOWED, observedGeneration };
  const spent = {
    ...status,
    ...(allowed === 1 ? { conditions: withCondition(conditions, last) } : {}),
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [pod.metadata.name ?? '']: timestamp() },
  };
  writer.update(budgets, keyOf(namespace, name), { ...budget, status: spent }, 'status', options);
}

const NONE_ALLOWED = { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' };

/** Returns why a budget allows no disruption. */
function obstacle(status: JsonObject): string {
  const [healthy, desired] = [numberOf(status, 'currentHealthy'), numberOf(status, 'desiredHealthy')];
  const [condition = {}] = objects(status['conditions']).filter(({ type }) => type === NONE_ALLOWED.type);
  const reason = condition['status'] === 'False' ? text(condition['reason']) : '';
  const message = reason === '' ? '' : text(condition['message']);
  const none = 'does not allow evicting pods currently';
  if (reason === 'SyncFailed' && message !== '') return `${none} because it failed sync: ${message}`;
  if (healthy <= desired) return `needs ${desired} healthy pods and has ${healthy} currently`;
  return message === '' ? none : `${none} (${reason}): ${message}`;
}

function isReady({ status }: KubeObject): boolean {
  const conditions = memberOf(status, 'conditions');
  if (!Array.isArray(conditions)) return false;
  return conditions.some((each) => memberOf(each, 'type') === 'Ready' && memberOf(each, 'status') === 'True');
}

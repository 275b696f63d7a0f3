/** A handler's reads of a parsed object: the same for every client, as far as the task requires. */
import { SENT_ANNOTATION } from '../task.ts';
import type { Handler } from '../task.ts';

interface Parsed {
  readonly metadata?:
    | {
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly resourceVersion?: string | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The fields that a handler of pods reads; a client supplies the fields that it provides. */
export interface Fields {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly controllerUid: string | undefined;
  readonly spec: unknown;
  readonly status: unknown;
}

interface PodSpec {
  readonly nodeName?: string;
}

interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
}

export function phaseOf(status: unknown): string | undefined {
  return ((status ?? {}) as PodStatus).phase;
}

/** Returns the length of the key; fails if the status has no phase. */
export function touchPhase(key: string, status: unknown): number {
  if (phaseOf(status) === undefined) throw new Error(`${key} has no phase`);
  return key.length;
}

/** Returns the length of the key; checks that the other fields exist. */
export function touchParsed(object: Parsed, handler: Handler): number {
  const { namespace = '', name = '', annotations } = object.metadata ?? {};
  const key = `${namespace}/${name}`;
  if (handler === 'metadata' && annotations === undefined) throw new Error(`${key} has no annotations`);
  if (handler === 'fields') touchFields(key, fieldsOf(object));
  if (handler === 'phase' || handler === 'status') touchPhase(key, object.status);
  if (handler === 'object') {
    if (object.spec === undefined) throw new Error(`${key} has no spec`);
    // Reads every member, so that no client can leave a member unparsed.
    for (const member of Object.values(object))
      if (member === undefined) throw new Error(`${key} has an empty member`);
  }
  return key.length;
}

/** Reads the fields; fails if a field is missing. */
export function touchFields(key: string, { labels, controllerUid, spec, status }: Fields): void {
  const { nodeName } = (spec ?? {}) as PodSpec;
  const { phase, podIP } = (status ?? {}) as PodStatus;
  const texts = [controllerUid, nodeName, phase, podIP];
  if (labels === undefined || texts.includes(undefined))
    throw new Error(`${key} lacks a field that the handler reads`);
}

interface Owned {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly controller?: boolean; readonly uid: string }[];
}

function fieldsOf({ metadata, spec, status }: Parsed): Fields {
  const { labels, ownerReferences = [] } = (metadata ?? {}) as Owned;
  const controllerUid = ownerReferences.find(({ controller }) => controller === true)?.uid;
  return { labels, controllerUid, spec, status };
}

/** Microseconds since the epoch; 0 when the source does not send them. */
export function sentUsOf(object: Parsed): number {
  return Number(object.metadata?.annotations?.[SENT_ANNOTATION] ?? 0);
}

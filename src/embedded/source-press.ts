/**
 * Stamps out the objects of the high-rate source: copies of a few templates in which name, namespace, uid, the container's id
 * and revision are written over.
 */

import { sampleNamespace } from './load.ts';
import { STAMP_ANNOTATION } from './load-template.ts';
import { ResourceTable, apiVersionOf } from './resources.ts';
import type { ResourceDefinition } from './resources.ts';
import { sampleContainerId, sampleName, samplePod, sampleUid } from './sample-pod.ts';
import { StoredObject } from './stored-object.ts';

/** Microseconds since the epoch at which an event was sent, in the annotations of paced events. */
export const SENT_ANNOTATION = 'kubeloom.io/sent-us';
export const FIRST_REVISION: number = 1_000_000_000;
const SENT_PREFIX = `"${SENT_ANNOTATION}":"`;
/** Of every revision, from the first to the last. */
export const DIGITS = 10;

const ZERO = 48;
const NAME_DIGITS = 7;
/** What the uids of samples begin with, those of their owners do not. */
const UID_PREFIX = '"uid":"00000001-';
const UID_REST = '0000-4000-8000-000000000000'.length;
const CONTAINER_PREFIX = '"containerID":"containerd://';
/** One digit in the name of the namespace. */
const NAMESPACES = 10;
/** Divisible by all that repeats in sample pods, and enough to keep them different. */
const TEMPLATES = 800;
const REVISION_PREFIX = '"resourceVersion":"';
const MANAGED_TIME_PREFIX = '"time":"';
const STARTED_PREFIX = '"startedAt":"';
/** In `2026-01-15T10:00:00Z`. */
const MINUTE_AT = 14;
const SECOND_AT = 17;

const POD: ResourceDefinition = new ResourceTable().named('pods');
/** Pods in all but name, written as custom resources are: with sorted keys. */
const WIDGET: ResourceDefinition = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: true,
};

export interface PressOptions {
  readonly pods: number;
  /** Of each object's JSON, exactly; the smallest that there are have about 900. */
  readonly objectBytes: number;
  readonly resource: 'pods' | 'widgets';
  readonly managedFields: boolean;
}

export class ObjectPress {
  readonly definition: ResourceDefinition;
  readonly #options: PressOptions;
  readonly #templates: Buffer[] = [];

  constructor(options: PressOptions) {
    this.#options = options;
    this.definition = options.resource === 'pods' ? POD : WIDGET;
  }

  key(index: number): string {
    return `${this.#namespace(index)}/${sampleName(index)}`;
  }

  /** The JSON of object number `index`. */
  make(index: number): Buffer {
    const bytes = Buffer.from(this.#template(index % TEMPLATES));
    const namespace = this.#namespace(index);
    const name = sampleName(index);
    const digits = name.slice(-NAME_DIGITS);
    overwrite(bytes, `"name":"${name.slice(0, -NAME_DIGITS)}`, NAME_DIGITS, digits);
    overwrite(bytes, '"namespace":"', namespace.length, namespace);
    overwrite(bytes, UID_PREFIX, UID_REST, sampleUid(index).slice(-UID_REST));
    // Small objects have none.
    const containerId = sampleContainerId(index);
    if (bytes.includes(CONTAINER_PREFIX)) overwrite(bytes, CONTAINER_PREFIX, containerId.length, containerId);
    writeRevision(bytes, revisionAt(bytes), index + 1);
    return bytes;
  }

  #namespace(index: number): string {
    return sampleNamespace(index, Math.min(NAMESPACES, this.#options.pods));
  }

  #template(number: number): Buffer {
    const known = this.#templates[number];
    if (known !== undefined) return known;
    const { objectBytes } = this.#options;
    const first = this.#sample(number, objectBytes);
    // The sample counts other names and digits than are written here.
    const excess = first.length - objectBytes;
    const made = excess === 0 ? first : this.#sample(number, objectBytes - excess);
    this.#templates[number] = made;
    return made;
  }

  #sample(index: number, bytes: number): Buffer {
    const { managedFields } = this.#options;
    const pod = samplePod({ index, namespace: sampleNamespace(0, 1), bytes, managedFields });
    const { [STAMP_ANNOTATION]: stamp = '', ...annotations } = pod.metadata.annotations ?? {};
    const metadata = { ...pod.metadata, annotations: { [SENT_ANNOTATION]: stamp, ...annotations } };
    const { kind } = this.definition;
    const object = { ...pod, kind, apiVersion: apiVersionOf(this.definition), metadata };
    return StoredObject.encode(this.definition, object, FIRST_REVISION).toBuffer();
  }
}

/** Writes over the end of the value, `valueLength` long, that follows the first `prefix`. */
function overwrite(bytes: Buffer, prefix: string, valueLength: number, end: string): void {
  bytes.write(end, bytes.indexOf(prefix) + prefix.length + valueLength - end.length, 'latin1');
}

export function revisionAt(bytes: Buffer): number {
  return bytes.indexOf(REVISION_PREFIX) + REVISION_PREFIX.length;
}

/** Where the value of the annotation begins. */
export function sentAt(bytes: Buffer): number {
  return bytes.indexOf(SENT_PREFIX) + SENT_PREFIX.length;
}

/**
 * Where the times begin that an update of status changes: that of the last entry of managedFields, and when the container
 * was started. Small objects have neither.
 */
export function statusTimesAt(bytes: Buffer): number[] {
  const prefixes = [MANAGED_TIME_PREFIX, STARTED_PREFIX];
  return prefixes.flatMap((prefix) => {
    const at = bytes.lastIndexOf(prefix);
    return at < 0 ? [] : [at + prefix.length];
  });
}

/** Writes the minute and the second of a time, those of the hour's second number `second`. */
export function writeTime(target: Buffer, at: number, second: number): void {
  writeTwoDigits(target, at + MINUTE_AT, ((second / 60) | 0) % 60);
  writeTwoDigits(target, at + SECOND_AT, second % 60);
}

function writeTwoDigits(target: Buffer, at: number, value: number): void {
  target[at] = ZERO + ((value / 10) | 0);
  target[at + 1] = ZERO + (value % 10);
}

/** Writes `1` and nine digits: the revision FIRST_REVISION + offset, with 32-bit arithmetic. */
export function writeRevision(target: Buffer, at: number, offset: number): void {
  let rest = offset | 0;
  for (let digit = DIGITS - 1; digit > 0; digit--) {
    const quotient = (rest / 10) | 0;
    target[at + digit] = ZERO + rest - quotient * 10;
    rest = quotient;
  }
}

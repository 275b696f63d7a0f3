/**
 * Templates of the high-rate source's objects. An object is a copy of a template in which name, namespace,
 * uid, the container's id and the revision are overwritten.
 */

import { sampleNamespace } from '../../src/tools/apiserver/load/load.ts';
import { STAMP_ANNOTATION } from '../../src/tools/apiserver/load/load-template.ts';
import { builtInResources } from '../../src/tools/apiserver/shapes/built-in-resources.ts';
import { ResourceTable, apiVersionOf } from '../../src/tools/apiserver/store/resources.ts';
import type { ResourceDefinition } from '../../src/tools/apiserver/store/resources.ts';
import { sampleDigest, sampleName, samplePod, sampleUid } from '../../src/tools/apiserver/load/sample-pod.ts';
import { StoredObject } from '../../src/tools/apiserver/store/stored-object.ts';
import { SENT_ANNOTATION } from '../task.ts';

export const FIRST_REVISION: number = 1_000_000_000;
const SENT_PREFIX = `"${SENT_ANNOTATION}":"`;
/** Number of digits of every revision, from the first to the last. */
export const DIGITS = 10;

const ZERO = 48;
const NAME_DIGITS = 7;
/** The beginning of the uids of samples; the uids of their owners have another. */
const UID_PREFIX = '"uid":"00000001-';
const UID_REST = '0000-4000-8000-000000000000'.length;
const CONTAINER_PREFIX = '"containerID":"containerd://';
/** At most ten, because the name of the namespace ends in a single digit. */
const NAMESPACES = 10;
/** Divisible by the period of everything that repeats in sample pods, and large enough for variety. */
const TEMPLATES = 800;
const REVISION_PREFIX = '"resourceVersion":"';
const MANAGED_TIME_PREFIX = '"time":"';
const STARTED_PREFIX = '"startedAt":"';
/** In `2026-01-15T10:00:00Z`. */
const MINUTE_AT = 14;
const SECOND_AT = 17;

const POD: ResourceDefinition = new ResourceTable(builtInResources()).named('pods');
/** Pods written like custom resources, with sorted keys. */
const WIDGET: ResourceDefinition = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: true,
};

export interface TemplateOptions {
  readonly pods: number;
  /** Exact length of each object's JSON; the smallest have about 900 bytes. */
  readonly objectBytes: number;
  readonly resource: 'pods' | 'widgets';
  readonly managedFields: boolean;
}

export class ObjectTemplates {
  readonly definition: ResourceDefinition;
  readonly #options: TemplateOptions;
  readonly #templates: Buffer[] = [];

  constructor(options: TemplateOptions) {
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
    const containerId = sampleDigest(index);
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
    // The names and digits of the sample differ from those written here.
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

/** Overwrites the end of the value, `valueLength` long, that follows the first `prefix`. */
function overwrite(bytes: Buffer, prefix: string, valueLength: number, end: string): void {
  bytes.write(end, bytes.indexOf(prefix) + prefix.length + valueLength - end.length, 'latin1');
}

export function revisionAt(bytes: Buffer): number {
  return bytes.indexOf(REVISION_PREFIX) + REVISION_PREFIX.length;
}

/** Position of the annotation's value. */
export function sentAt(bytes: Buffer): number {
  return bytes.indexOf(SENT_PREFIX) + SENT_PREFIX.length;
}

/**
 * Positions of the times that an update of status changes: that of the last entry of managedFields, and the
 * container's start. Small objects have neither.
 */
export function statusTimesAt(bytes: Buffer): number[] {
  const prefixes = [MANAGED_TIME_PREFIX, STARTED_PREFIX];
  return prefixes.flatMap((prefix) => {
    const at = bytes.lastIndexOf(prefix);
    return at < 0 ? [] : [at + prefix.length];
  });
}

/** Writes the minute and the second of a time, for second number `second` of the hour. */
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

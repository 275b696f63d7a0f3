/**
 * Key, namespace and name out of a record that shows them for the first time. An informer keeps them for as long as
 * the object lives, so they are few and flat: one string for the key, none for the name, which is part of it, and one
 * for all objects of a namespace that come in a row, as in a list.
 */
import type { Notification } from '../record/notification.ts';
import type { Identity } from '../store/entry.ts';

const SLASH = 0x2f;
/** Kubernetes' names have at most 253 characters and its namespaces 63; longer ones get more. */
const KEY_BYTES = 512;

class KeyIdentity implements Identity {
  readonly key: string;
  readonly namespace: string;

  constructor(key: string, namespace: string) {
    this.key = key;
    this.namespace = namespace;
  }

  get name(): string {
    return this.namespace === '' ? this.key : this.key.slice(this.namespace.length + 1);
  }
}

export class IdentityReader {
  #bytes: Buffer = Buffer.alloc(KEY_BYTES);
  #namespace = '';

  /** `text` is the ring that holds the record. */
  read({ textOffset, namespaceLength, nameLength }: Notification, text: Buffer): Identity {
    if (namespaceLength === 0) {
      return new KeyIdentity(text.toString('utf8', textOffset, textOffset + nameLength), '');
    }
    const length = namespaceLength + 1 + nameLength;
    if (length > this.#bytes.length) this.#bytes = Buffer.alloc(length);
    const bytes = this.#bytes;
    for (let at = 0; at < namespaceLength; at++) bytes[at] = text[textOffset + at] ?? 0;
    bytes[namespaceLength] = SLASH;
    for (let at = namespaceLength; at < length - 1; at++) bytes[at + 1] = text[textOffset + at] ?? 0;
    const key = bytes.toString('utf8', 0, length);
    const namespace = bytes.toString('utf8', 0, namespaceLength);
    if (namespace !== this.#namespace) this.#namespace = namespace;
    return new KeyIdentity(key, this.#namespace);
  }
}

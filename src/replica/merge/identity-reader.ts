/**
 * Reads key, namespace and name out of the first record of an object. An informer keeps them as long as the object
 * exists, so they take little memory: one string for the key, none for the name, which is part of it, and one for a
 * namespace whose objects come in a row, as in a list.
 */
import type { Notification } from '../../shared/record/notification.ts';
import type { Identity } from '../store/entry.ts';

const SLASH = 0x2f;
/** Initial size: names in Kubernetes have at most 253 characters, namespaces 63. It grows for longer ones. */
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

  /** @param text the ring that holds the record */
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

/** Memory of the main thread that a thread reads: slabs, dictionaries, and tables of msgpack, by number. */
import { KubeloomError, assert } from '../../base/errors.ts';
import { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import type { EntryTable } from '../../replica/store/entry-table.ts';
import { EntryFlag } from '../../replica/store/entry.ts';
import type { ForeignBytes, ObjectBytes } from '../../replica/store/entry.ts';
import { viewedMemory } from '../../shared/pack/pack.ts';
import type { ViewedMemory } from '../../shared/pack/pack.ts';
import { unpackedObject } from '../../replica/store/packed-objects.ts';
import { ForgottenMemory } from '../../shared/forgotten-memory.ts';
import { NO_MEMORY } from '../messages.ts';
import type { ToReader } from '../messages.ts';

export class ForeignMemory {
  readonly #receive: () => boolean;
  readonly #memories: Map<number, ViewedMemory> = new Map();
  readonly #decoders: Map<number, MsgpackDecoder> = new Map();
  readonly #forgotten: ForgottenMemory = new ForgottenMemory();
  #isClosed = false;

  /** @param receive receives the next message of the port and passes it to `take`; returns false if there is none */
  constructor(receive: () => boolean) {
    this.#receive = receive;
  }

  /** Takes a message; ignores messages that are not about memory. */
  take(message: ToReader): void {
    switch (message.type) {
      case 'memory':
        this.#memories.set(
          message.number,
          viewedMemory(Buffer.from(message.memory, 0, message.memory.byteLength)),
        );
        break;
      case 'forget':
        this.#forgotten.add(this.#memories.get(message.number)?.bytes.length ?? 0);
        this.#memories.delete(message.number);
        break;
      case 'collect':
        this.#forgotten.collect();
        break;
      case 'structures':
        this.decoder(message.decoder).update(message.record);
        break;
      default:
    }
  }

  /** Returns the memory with this number. */
  get(number: number): ViewedMemory {
    const memory = this.#memories.get(number);
    if (this.#isClosed) {
      const message = 'the cache of this thread is closed: its objects were in the memory of the main thread';
      throw new KubeloomError('ERR_KUBELOOM_STOPPED', message);
    }
    assert(memory !== undefined, 'a record names unknown memory', number);
    return memory;
  }

  /** Ends all reads: the main thread may reuse the memory from now on. */
  close(): void {
    this.#isClosed = true;
    this.#memories.clear();
  }

  /** Takes all messages that were sent before the current record. */
  catchUp(): void {
    while (this.#receive());
  }

  has(number: number): boolean {
    return number === NO_MEMORY || this.#memories.has(number);
  }

  decoder(number: number): MsgpackDecoder {
    let decoder = this.#decoders.get(number);
    if (!decoder) this.#decoders.set(number, (decoder = new MsgpackDecoder()));
    return decoder;
  }
}

/** The bytes of an informer's rows. Their columns name foreign memory instead of slabs and dictionaries. */
export class ForeignRows implements ForeignBytes {
  readonly #table: EntryTable;
  readonly #memory: ForeignMemory;

  constructor(table: EntryTable, memory: ForeignMemory) {
    this.#table = table;
    this.#memory = memory;
  }

  read(row: number): Readonly<ObjectBytes> {
    const table = this.#table;
    const { bytes } = this.#memory.get(table.slabOf(row));
    const start = table.offsetOf(row);
    const length = table.lengthOf(row);
    if (!table.hasFlag(row, EntryFlag.Packed)) return { bytes, start, length };
    const dictionary = this.#memory.get(table.dictionaryOf(row));
    const packed = { bytes, start, length: table.storedBytesOf(row) };
    return { bytes: unpackedObject(dictionary, packed, length), start: 0, length };
  }
}

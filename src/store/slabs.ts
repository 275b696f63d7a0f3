/**
 * The store's bytes: private memory in slabs of equal size, appended to, reused when nothing in them lives.
 *
 * A mostly dead slab is emptied by moving what lives to the slab that is being filled; whoever holds an
 * entry does not notice, because an entry is an object and moving it is changing its pointer. Nothing is
 * left to the garbage collector, which would need constant major collections at full rate.
 */
import { assert } from '../errors.ts';

/** Something whose bytes lie in a slab: `slab` is undefined once they were given back. */
export interface Located {
  slab: Slab | undefined;
  offset: number;
  length: number;
  /** Its place in `slab.occupants`. */
  position: number;
}

export interface Slab {
  readonly bytes: Buffer;
  usedBytes: number;
  liveBytes: number;
  /** Who lives here, in order of offset; undefined where somebody left. */
  readonly occupants: (Located | undefined)[];
  state: 'filling' | 'full' | 'queued' | 'free';
}

export const SLAB_BYTES: number = 2 * 2 ** 20;
/** Below this share of living bytes a full slab is emptied: space ≤ 1.44x at about one move an event. */
const LIVE_SHARE_MIN = 0.5;
/** Free slabs kept for reuse, as a share of the slabs in use; the rest goes back to the system. */
const FREE_SHARE_MAX = 0.1;

export class Slabs {
  #filling: Slab = newSlab(SLAB_BYTES);
  readonly #free: Slab[] = [];
  /** Slabs to be emptied, first come first served. */
  readonly #queue: Slab[] = [];
  #slabs = 1;
  #liveBytes = 0;

  /** Copies `length` bytes of `source` in and makes `owner` their owner. */
  put(owner: Located, source: Buffer, start: number, length: number): void {
    const slab = this.#slabFor(length);
    source.copy(slab.bytes, slab.usedBytes, start, start + length);
    owner.slab = slab;
    owner.offset = slab.usedBytes;
    owner.length = length;
    owner.position = slab.occupants.length;
    slab.occupants.push(owner);
    slab.usedBytes += length;
    slab.liveBytes += length;
    this.#liveBytes += length;
  }

  /** Gives the bytes of `owner` back. */
  release(owner: Located): void {
    const slab = owner.slab;
    assert(slab !== undefined, 'released twice');
    slab.occupants[owner.position] = undefined;
    slab.liveBytes -= owner.length;
    this.#liveBytes -= owner.length;
    owner.slab = undefined;
    if (slab.state !== 'full') return;
    if (slab.liveBytes === 0) this.#recycle(slab);
    else if (slab.liveBytes < LIVE_SHARE_MIN * slab.bytes.length) this.#enqueue(slab);
  }

  /** Whether `compact` would find something to do. */
  get hasCompaction(): boolean {
    return this.#queue.length > 0;
  }

  /** Empties one mostly dead slab; returns the bytes moved. Called within the drain budget. */
  compact(): number {
    const slab = this.#queue.shift();
    if (!slab) return 0;
    let movedBytes = 0;
    for (const occupant of slab.occupants) {
      if (!occupant) continue;
      this.#liveBytes -= occupant.length;
      movedBytes += occupant.length;
      this.put(occupant, slab.bytes, occupant.offset, occupant.length);
    }
    this.#recycle(slab);
    return movedBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Memory held: living, dead and free. */
  get heldBytes(): number {
    return this.#slabs * SLAB_BYTES;
  }

  #slabFor(length: number): Slab {
    if (this.#filling.usedBytes + length <= this.#filling.bytes.length) return this.#filling;
    if (length > SLAB_BYTES / 4) {
      // An object of its own size class gets a slab of its own: nothing to compact, nothing wasted.
      const slab = newSlab(length);
      slab.state = 'full';
      this.#slabs += length / SLAB_BYTES;
      return slab;
    }
    const full = this.#filling;
    full.state = 'full';
    this.#filling = this.#free.pop() ?? this.#grow();
    this.#filling.state = 'filling';
    if (full.liveBytes === 0) this.#recycle(full);
    else if (full.liveBytes < LIVE_SHARE_MIN * full.bytes.length) this.#enqueue(full);
    return this.#filling;
  }

  #grow(): Slab {
    this.#slabs++;
    return newSlab(SLAB_BYTES);
  }

  #enqueue(slab: Slab): void {
    slab.state = 'queued';
    this.#queue.push(slab);
  }

  #recycle(slab: Slab): void {
    if (slab.bytes.length !== SLAB_BYTES || this.#free.length > FREE_SHARE_MAX * this.#slabs + 1) {
      this.#slabs -= slab.bytes.length / SLAB_BYTES;
      return;
    }
    slab.state = 'free';
    slab.usedBytes = 0;
    slab.liveBytes = 0;
    slab.occupants.length = 0;
    this.#free.push(slab);
  }
}

function newSlab(bytes: number): Slab {
  return {
    bytes: Buffer.allocUnsafeSlow(bytes),
    usedBytes: 0,
    liveBytes: 0,
    occupants: [],
    state: 'filling',
  };
}

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
  /** How many live here; an object may be empty, so `liveBytes` does not tell. */
  liveCount: number;
  /** Who lives here, in order of offset; undefined where somebody left. */
  readonly occupants: (Located | undefined)[];
  state: 'filling' | 'full' | 'queued' | 'free';
}

export const SLAB_BYTES: number = 2 * 2 ** 20;
/**
 * Below this share of living bytes a full slab is emptied. Random churn of 5 KB objects then holds 1.34x the
 * living bytes (at most 1.44x) for 1.5 moves an event; half would hold 1.48x (1.6x) and is no faster.
 */
const LIVE_SHARE_MIN = 0.6;
/** Free slabs kept for reuse, as a share of the slabs in use; the rest goes back to the system. */
const FREE_SHARE_MAX = 0.1;

const WORD_BYTES = 8;

/**
 * The first offset from `offset` on that lies in its word as `address` does: V8 copies shared memory word by
 * word only then, and else byte by byte, which takes twice as long.
 */
function congruent(offset: number, address: number): number {
  return offset + ((address - offset) & (WORD_BYTES - 1));
}

export class Slabs {
  #filling: Slab = newSlab(SLAB_BYTES);
  readonly #free: Slab[] = [];
  /** Slabs to be emptied, first come first served. */
  readonly #queue: Slab[] = [];
  #slabs = 1;
  #liveBytes = 0;
  /** Put while slabs waited to be emptied: what `compact` has to make room for. */
  #owedBytes = 0;

  /** Copies `length` bytes of `source` in and makes `owner` their owner. */
  put(owner: Located, source: Buffer, start: number, length: number): void {
    if (this.#queue.length > 0) this.#owedBytes += length;
    this.#place(owner, source, start, length);
  }

  #place(owner: Located, source: Buffer, start: number, length: number): void {
    const slab = this.#slabFor(length + WORD_BYTES);
    const offset = congruent(slab.usedBytes, source.byteOffset + start);
    source.copy(slab.bytes, offset, start, start + length);
    owner.slab = slab;
    owner.offset = offset;
    owner.length = length;
    owner.position = slab.occupants.length;
    slab.occupants.push(owner);
    slab.usedBytes = offset + length;
    slab.liveBytes += length;
    slab.liveCount++;
    this.#liveBytes += length;
  }

  /** Gives the bytes of `owner` back. */
  release(owner: Located): void {
    const slab = owner.slab;
    assert(slab !== undefined, 'released twice');
    slab.occupants[owner.position] = undefined;
    slab.liveBytes -= owner.length;
    slab.liveCount--;
    this.#liveBytes -= owner.length;
    owner.slab = undefined;
    if (slab.state === 'filling') return;
    if (slab.liveCount === 0) {
      if (slab.state === 'queued') this.#queue.splice(this.#queue.indexOf(slab), 1);
      this.#recycle(slab);
    } else if (slab.state === 'full' && slab.liveBytes < LIVE_SHARE_MIN * slab.bytes.length) {
      this.#enqueue(slab);
    }
  }

  /** Whether `compact` would find something to do. */
  get hasCompaction(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Empties one mostly dead slab, and more until there is room for what was put since slabs wait: large
   * objects kill slabs faster than one at a time. Returns the bytes moved, at most 1.5 times what was put.
   */
  compact(): number {
    let movedBytes = 0;
    do {
      const slab = this.#queue.shift();
      if (!slab) break;
      const liveBytes = this.#empty(slab);
      movedBytes += liveBytes;
      this.#owedBytes -= slab.bytes.length - liveBytes;
    } while (this.#owedBytes > 0);
    this.#owedBytes = 0;
    return movedBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Memory held: living, dead and free. */
  get heldBytes(): number {
    return this.#slabs * SLAB_BYTES;
  }

  /** Moves everybody out and frees the slab; returns the bytes moved. */
  #empty(slab: Slab): number {
    const { liveBytes } = slab;
    for (const occupant of slab.occupants) {
      if (!occupant) continue;
      this.#liveBytes -= occupant.length;
      this.#place(occupant, slab.bytes, occupant.offset, occupant.length);
    }
    this.#recycle(slab);
    return liveBytes;
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
    if (full.liveCount === 0) this.#recycle(full);
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
    if (slab.bytes.length !== SLAB_BYTES) {
      this.#slabs -= slab.bytes.length / SLAB_BYTES;
      return;
    }
    slab.state = 'free';
    slab.usedBytes = 0;
    slab.liveBytes = 0;
    slab.liveCount = 0;
    slab.occupants.length = 0;
    this.#free.push(slab);
    // Also those that were few among many once.
    while (this.#free.length > FREE_SHARE_MAX * this.#slabs + 1) {
      this.#free.pop();
      this.#slabs--;
    }
  }
}

function newSlab(bytes: number): Slab {
  return {
    bytes: Buffer.allocUnsafeSlow(bytes),
    usedBytes: 0,
    liveBytes: 0,
    liveCount: 0,
    occupants: [],
    state: 'filling',
  };
}

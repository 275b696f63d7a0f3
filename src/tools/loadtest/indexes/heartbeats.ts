/**
 * Presence of other indexes, by signs of life on the run status. Time is counted in beats of the own entry that come
 * back from the server: clocks of machines need not agree, and while the server is unreachable no index counts as dead.
 * Pure.
 */

/** Own beats without a sign of another index, after which that index counts as dead. */
export const SILENT_BEATS = 5;

export class Heartbeats {
  readonly #own: string;
  readonly #lastSeen = new Map<string, number>();
  #beats = 0;
  #lastBeat: string | undefined;

  /** @param own the name of the own entry */
  constructor(own: string) {
    this.#own = own;
  }

  /**
   * Takes a change of an entry.
   *
   * @param beat the number of the beat; own changes between two beats do not count
   */
  seen(name: string, beat: string): void {
    if (name !== this.#own) this.#lastSeen.set(name, this.#beats);
    else if (beat !== this.#lastBeat) {
      this.#lastBeat = beat;
      this.#beats++;
    }
  }

  isSilent(name: string): boolean {
    return this.#beats - (this.#lastSeen.get(name) ?? 0) > SILENT_BEATS;
  }
}

/**
 * The log: the response bytes on their way to the main thread, in one shared buffer.
 *
 * ```
 *  ┌──────────┬──────────┬──────────┬──────────┬──────────┐
 *  │ block 0  │ block 1  │ block 2  │   …      │ block n-1│
 *  └──────────┴──────────┴──────────┴──────────┴──────────┘
 *   ◄─ extent: a run of blocks ─►    records lie side by side inside an extent,
 *                                    never across the end
 * ```
 *
 * One buffer instead of announced segments: an address is a u32 offset, no thread can receive an address in
 * an unknown segment, and unused pages are never resident. Why: docs/decisions/0002.
 */

export const BLOCK_BYTES: number = 4 * 2 ** 20;
/** Offsets are u32 and a view of a buffer is limited to 4 GiB. */
export const LOG_BYTES_MAX: number = 2 ** 32 - BLOCK_BYTES;

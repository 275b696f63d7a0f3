/** How long what identifies an object may be, and how small a ring. */

/** Longest name, namespace or uid, in bytes as on the wire. Kubernetes' names have up to 253 characters. */
export const NAME_BYTES_MAX = 1024;

/** Longer texts of a record precede it in parts, so this is no limit of an object. */
export const RING_BYTES_MIN: number = 16 * 1024;

/** How long what identifies an object may be. The smallest ring carries the longest identity in one record. */
import { capacityFor } from '../ring/ring.ts';
import { NOTIFICATION_FIXED_BYTES } from './notification.ts';

/** Longest name, namespace or uid, in bytes as on the wire. Kubernetes' names have up to 253 characters. */
export const NAME_BYTES_MAX = 1024;

/** Kubernetes' resourceVersions have up to 20 digits; an object with a longer one is refused. */
export const RESOURCE_VERSION_BYTES_MAX = 96;

/** The extracted fields of an object of which only the uid is known: `["uid"]`. */
const UID_EXTRACTION_BYTES_MAX: number = NAME_BYTES_MAX + '[""]'.length;

const IDENTITY_TEXT_BYTES_MAX: number =
  2 * NAME_BYTES_MAX + RESOURCE_VERSION_BYTES_MAX + UID_EXTRACTION_BYTES_MAX;

export const RING_BYTES_MIN: number = capacityFor(NOTIFICATION_FIXED_BYTES + IDENTITY_TEXT_BYTES_MAX);

/**
 * Go writes these keys of metadata in this order, and nothing after managedFields. Who has met all five in
 * order is reading Go's output and need not walk through managedFields, a third of the object.
 */
export const VERSION = 'resourceVersion';
export const GO_ORDER: readonly string[] = ['name', 'uid', VERSION, 'creationTimestamp', 'managedFields'];

/**
 * Keys of metadata in the order in which Go writes them; nothing follows managedFields. After all five in this
 * order the text is Go's output, and the walk can skip managedFields, a third of the object.
 */
export const VERSION = 'resourceVersion';
export const GO_ORDER: readonly string[] = ['name', 'uid', VERSION, 'creationTimestamp', 'managedFields'];

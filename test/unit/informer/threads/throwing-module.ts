/** A module that throws outside of every call while a shard loads it. */
setTimeout(() => {
  throw new Error('thrown while the shard loads its modules');
}, 1);
await new Promise<never>(() => undefined);

export default (object: unknown): unknown => object;

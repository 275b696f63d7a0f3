/** `kubeloom/controller`: controllers on informers and work queues, and the client with which they write. */
export { ObjectClient } from './object-client.ts';
export type { DeleteOptions, RequestOptions, Sent } from './object-client.ts';

/**
 * The server under the semantics suite: embedded, or a real kube-apiserver. The suite needs HTTP, and one
 * ability that HTTP does not have.
 */

export interface Target {
  readonly url: string;
  /** A token with all permissions. */
  readonly token: string;
  /** PEM; '' for plain HTTP. */
  readonly ca: string;
  /**
   * Makes the server forget all history up to now. Every older revision is then too old: for an exact list,
   * for a continue token and for a watch. On a real server: compact etcd, then restart the apiserver.
   */
  readonly forgetHistory: () => Promise<void>;
}

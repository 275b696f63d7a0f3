/**
 * What the semantics suite runs against: an embedded server or a real kube-apiserver. Nothing but HTTP is assumed, and
 * one ability that HTTP does not have.
 */

export interface Target {
  readonly url: string;
  /** May do everything. */
  readonly token: string;
  /** PEM; '' for plain HTTP. */
  readonly ca: string;
  /**
   * Makes the server forget all history up to now, so that every older revision is too old: for a list at it, for a
   * continue token and for a watch from it. On a real server: compact etcd, then restart the apiserver.
   */
  readonly forgetHistory: () => Promise<void>;
}

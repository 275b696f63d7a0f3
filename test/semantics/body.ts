/** The servers' answers, as far as the suite reads them. */

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** In lists. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Any answer of the server: an object, a list or a Status. */
export interface Body {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Metadata;
  readonly items: readonly Body[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Failures on request: the next requests that match a rule get an error, silence or a reset instead of an answer. */

export interface FaultMatch {
  readonly method?: string;
  /** A part of the path. */
  readonly path?: string;
  /** True for watches only, false for all other requests. */
  readonly watch?: boolean;
}

export interface FaultRule {
  /** The HTTP status of the answer; `reset` cuts the connection, `hang` never answers. */
  readonly status: number | 'reset' | 'hang';
  /** Number of requests. Default 1. */
  readonly count?: number;
  readonly match?: FaultMatch;
  readonly message?: string;
  /** Sent as Retry-After and in the details of the Status. */
  readonly retryAfterSeconds?: number;
}

export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly watch: boolean;
  /** The revision of a list, or of the state with which a streaming list began. */
  listedRevision?: number;
}

const RECORDS_MAX = 10_000;

export class Faults {
  #rules: Array<{ rule: FaultRule; left: number }> = [];

  add(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.count ?? 1 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** Returns the rule for this request, if there is one, and counts it. */
  take(request: RequestRecord): FaultRule | undefined {
    const found = this.#rules.find(({ rule, left }) => left > 0 && applies(rule.match ?? {}, request));
    if (found === undefined) return undefined;
    found.left--;
    this.#rules = this.#rules.filter(({ left }) => left > 0);
    return found.rule;
  }
}

function applies(match: FaultMatch, request: RequestRecord): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.path === undefined || request.path.includes(match.path)) &&
    (match.watch === undefined || match.watch === request.watch)
  );
}

/** The last requests, oldest first. */
export class RequestLog {
  #records: RequestRecord[] = [];

  add(record: RequestRecord): void {
    this.#records.push(record);
    if (this.#records.length > 2 * RECORDS_MAX) this.#records = this.#records.slice(-RECORDS_MAX);
  }

  all(): RequestRecord[] {
    return this.#records.slice(-RECORDS_MAX);
  }

  clear(): void {
    this.#records = [];
  }
}

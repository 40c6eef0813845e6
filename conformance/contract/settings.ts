import type { JsonObject } from "svc-connectors";

/**
 * `conformance.yaml` beside a connector: what the kit cannot see by itself. Ten lines are enough
 * for most.
 */
export interface ConformanceSettings {
  /** Folder of the recordings, relative to the file. */
  readonly fixtures: string;
  /**
   * SQL that fills the database of a connector that speaks to one, in the folder of the recordings.
   * Default "seed.sql".
   */
  readonly database?: string;
  /** Settings without secrets: the kit makes those up. */
  readonly config: JsonObject;
  /**
   * Settings besides, with which a connector of a database reads the log of changes. The kit fills
   * in the slot; its publication of all tables is "svc_conformance".
   */
  readonly changes?: JsonObject | undefined;
  /** Streams whose recordings hold no rows, with the reason. */
  readonly empty_streams: Readonly<Record<string, string>>;
  /** Promises of the connector that its recordings do not show. */
  readonly capabilities: Capabilities;
  /**
   * Paging that the kit did not learn right from the recordings, by path of the listing
   * ("/api/lists").
   */
  readonly paging: Readonly<Record<string, DeclaredPaging>>;
  readonly waivers: readonly Waiver[];
  /** For images. */
  readonly container: ContainerSettings;
  /** A recording may be this old. Default 365. */
  readonly max_age_days: number;
}

export interface ContainerSettings {
  /**
   * Names of providers that the image reaches without a proxy: they lead to the kit, on port 443.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * Files that the image needs besides the protocol's: path in the container → path here, relative
   * to conformance.yaml.
   */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export interface Capabilities {
  /**
   * Incremental streams give a row again at the boundary at most (default), or any number of times.
   */
  readonly delivery: "boundary" | "at_least_once";
  /** Paths whose POST requests only read. */
  readonly safe_posts: readonly string[];
  /** Largest number of rows that the provider gives in one listing, whatever its paging says. */
  readonly window?: number;
  /** Rows may be lost when the provider's data changes while it is paged. */
  readonly loses_on_mutation: boolean;
  /**
   * Fields that are not in the configured catalog are left out of the records. False: whoever runs
   * the source takes them out.
   */
  readonly selects_fields: boolean;
}

export interface DeclaredPaging {
  readonly style: "number" | "offset" | "cursor" | "link";
  /** Name of the query or body parameter that says which page. */
  readonly parameter?: string;
  /** Name of the parameter with the page's size. */
  readonly size?: string;
  /** JSON pointer of the next page's token or URL in the answer. */
  readonly next?: string;
  /** JSON pointer of the rows in the answer. */
  readonly rows: string;
}

/** Accepts that a rule is not met, for a while, by somebody. */
export interface Waiver {
  readonly rule: string;
  readonly reason: string;
  readonly owner: string;
  /** Date (YYYY-MM-DD) after which the waiver itself fails. */
  readonly expires: string;
}

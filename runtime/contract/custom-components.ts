/**
 * Components of declarative manifests that their authors write in TypeScript: `components.ts`
 * beside the manifest exports each of them, by the last part of the `class_name` that names it.
 * docs/manifests.md has an example of each.
 *
 * They run where the manifest is read, in the sandbox: without files, a network or secrets. They
 * keep nothing between two calls: what they need is what they are given.
 */
import type { HttpClient, Log } from "./context.ts";
import type { JsonObject } from "./json.ts";
import type { Signal } from "./platform.ts";

/**
 * A record as it came: whole numbers beyond 2^53 are `bigint`, decimals with more than 15 digits
 * raw JSON. Only fields of the stream's schema are written.
 */
export type CustomRecord = { [field: string]: unknown };

/** The place where a component stands, and what is being read. */
export interface CustomScope {
  /**
   * Its own properties in the manifest, without `type` and `class_name`; a text that is an
   * expression has its value.
   */
  readonly options: Readonly<Record<string, unknown>>;
  /** `$parameters`, its own and those handed down to it. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The settings; a placeholder stands in the place of each secret. */
  readonly config: JsonObject;
  /** The part and the window that is read: `stream_slice` of expressions. Empty without one. */
  readonly slice: Readonly<Record<string, unknown>>;
}

/** The same for a component that may ask the provider. */
export interface CustomRequestScope extends CustomScope {
  /** Requests by whole URLs, to hosts that the manifest names elsewhere; they are not signed. */
  readonly http: HttpClient;
  readonly log: Log;
  /** Aborts when the run is cancelled. */
  readonly signal: Signal;
}

/** An answer of the provider, of whatever status. */
export interface CustomAnswer {
  readonly status: number;
  /** Those that the manifest asks for elsewhere, in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The document; an empty object where the answer is none. */
  readonly document: unknown;
}

/** A step among `transformations`. */
export interface CustomTransformation {
  /** Changes the record in its place. */
  transform(record: CustomRecord, scope: CustomScope): void;
}

/** A `record_filter`. */
export interface CustomRecordFilter {
  /** Gives the records of a page that are kept, in their order. */
  filter(records: readonly CustomRecord[], scope: CustomScope): Iterable<CustomRecord>;
}

/** An `extractor`. */
export interface CustomRecordExtractor {
  /**
   * Gives the records of an answer. @param documents what the decoder has made of it: one document,
   * the items of one that is a list, or one a line
   */
  extract(documents: readonly unknown[], scope: CustomScope): Iterable<CustomRecord>;
}

/** A page that has been read. */
export interface CustomPage extends Omit<CustomAnswer, "status"> {
  /** Records that came, those included that a filter drops. */
  readonly size: number;
  /** The last one that was kept; null where none was. */
  readonly lastRecord: CustomRecord | null;
  /** The token by which it was asked for; undefined for the first. */
  readonly token: unknown;
}

/** A `pagination_strategy`; its property `page_size` goes where `page_size_option` says. */
export interface CustomPaginationStrategy {
  /**
   * Gives the token of the next page: `next_page_token` of expressions, and what
   * `page_token_option` puts into the request. Nothing, null or "" after the last page. A token
   * that was there before ends the read with PAGING_LOOP.
   */
  next(page: CustomPage, scope: CustomScope): unknown;
}

/** A `schema_loader`, alone or in a list. */
export interface CustomSchemaLoader {
  /** Gives a JSON Schema with `properties`: a stream's fields, for the account of the settings. */
  schema(scope: CustomRequestScope): JsonObject | Promise<JsonObject>;
}

/** One of `backoff_strategies`. */
export interface CustomBackoffStrategy {
  /**
   * Gives the seconds to wait before a request is tried again; nothing where the next strategy is
   * to say. @param attempt tries that have failed, from 1
   */
  waitSeconds(answer: CustomAnswer, attempt: number, scope: CustomScope): number | undefined;
}

/** The meaning of an answer, as `HttpResponseFilter` has it. */
export type CustomAction = "SUCCESS" | "FAIL" | "RETRY" | "IGNORE" | "RATE_LIMITED";

/** An `error_handler`, alone or in a `CompositeErrorHandler`; it may have `max_retries`. */
export interface CustomErrorHandler {
  /** Says what an answer means; nothing where it means what its status says. */
  judge(answer: CustomAnswer, scope: CustomScope): CustomAction | undefined;
  /** As {@link CustomBackoffStrategy} has it. */
  waitSeconds?(answer: CustomAnswer, attempt: number, scope: CustomScope): number | undefined;
}

/** A stream among the `parent_stream_configs` of a partition router. */
export interface CustomParent {
  readonly name: string;
  /** Reads it from its beginning. */
  records(): AsyncIterable<CustomRecord>;
}

/** A `partition_router`, alone or in a list. */
export interface CustomPartitionRouter {
  /**
   * Gives the parts in which the stream is read, each as the values of its `stream_slice`; states
   * know it by them.
   */
  parts(
    scope: CustomRequestScope & { readonly parents: readonly CustomParent[] },
  ): Iterable<Record<string, unknown>> | AsyncIterable<Record<string, unknown>>;
}

/** One of `state_migrations`. */
export interface CustomStateMigration {
  /** Gives the state from which to read on: the same one where there is nothing to change. */
  migrate(state: JsonObject, scope: CustomScope): JsonObject;
}

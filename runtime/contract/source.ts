import type { Static, TObject, TProperties, TSchema } from "typebox";
import type { MissingStream } from "./catalog.ts";
import type { Context } from "./context.ts";
import type { Egress } from "./egress.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Output } from "./output.ts";
import type { PublicConfig } from "./spec.ts";
import type { SelectedStream, Stream } from "./stream.ts";

/**
 * A source connector. The runtime calls, each in a fresh sandboxed process: spec → (check |
 * discover | read | entities). Nothing is shared between calls; nothing is called twice at a time
 * in one process.
 */
export interface Source<
  Spec extends TObject = TObject,
  E extends Egress<FieldOf<Spec>> = Egress<FieldOf<Spec>>,
  S extends Stream = Stream,
  State extends TSchema = TSchema,
> {
  /** `conn_…`, permanent. */
  readonly id: string;
  /**
   * Semantic version: major = a stream, key or setting changed in a way that breaks saved catalogs
   * or configurations.
   */
  readonly version: string;
  /** The name people read. */
  readonly title: string;
  /** Where a user reads how to set it up. */
  readonly documentationUrl?: string;
  /**
   * The settings of the connector: a TypeBox object in which {@link secret} marks secrets. Every
   * property has a title and a description.
   */
  readonly spec: Spec;
  /** The network it needs: {@link http}, {@link postgres} or {@link mysql}. */
  readonly egress: E;
  /** Streams that exist for every account. Give either this or `discover`. */
  readonly streams?: readonly (S & KeyedBySchema<S>)[];
  /** Streams of a declarative manifest that need what the runtime lacks. */
  readonly missingStreams?: readonly MissingStream[];
  /**
   * Streams that depend on the account, one after another; reading stops at the first beyond 6,000.
   */
  discover?(ctx: Context<PublicConfig<Spec>, E>): AsyncIterable<S>;
  /**
   * Shape of a checkpoint, without further properties. A saved state of any other shape is refused
   * as STATE_INVALID before `read` is called.
   */
  readonly state?: State;
  /**
   * Resolves when the configuration works. It only reads, with as few requests as it can.
   * @throws any ConnectorError: its code tells the user why.
   */
  check(ctx: Context<PublicConfig<Spec>, E>): Promise<void>;
  /**
   * Lists that a user may choose settings from: accounts, brands, channels and the like, as lists
   * of plain objects that people may see. For settings that can only be chosen once the credential
   * is there; leave them optional in the spec, and let `check` demand them.
   * @param input what the user has chosen so far; not validated
   */
  entities?(ctx: Context<PublicConfig<Spec>, E>, input: JsonObject): Promise<JsonObject>;
  /**
   * Yields the rows of one stream and checkpoints, in order. Called once per selected stream, one
   * stream at a time; a failure ends this stream only. The next value is asked for when the output
   * has room, so memory stays bounded.
   * @param state what the last checkpoint held; undefined = from the beginning. It is frozen.
   * @param run what is read besides: for sources whose streams share something that is given back
   * when none needs it any more, as a log of changes
   */
  read(
    ctx: Context<PublicConfig<Spec>, E>,
    stream: SelectedStream<S>,
    state: ([TSchema] extends [State] ? JsonValue : Static<State>) | undefined,
    run?: ReadRun<S, [TSchema] extends [State] ? JsonValue : Static<State>>,
  ): AsyncIterable<Output<[TSchema] extends [State] ? unknown : Unfinished<Static<State>>>>;
}

/** A run, of which `read` is called for each stream. */
export interface ReadRun<S extends Stream = Stream, State = JsonValue> {
  /** All streams of the run, in their order. */
  readonly streams: readonly StreamBeginning<S, State>[];
  /** The user has other streams of this source besides, which are not read this time. */
  readonly isPart: boolean;
  /**
   * Who reads a log of changes may wait so long for the first one, when there is none. Undefined:
   * it does not wait.
   */
  readonly waitMs?: number | undefined;
}

/** A stream of a run, and the state that it goes on from. */
export interface StreamBeginning<S extends Stream = Stream, State = JsonValue> {
  readonly stream: SelectedStream<S>;
  readonly state: State | undefined;
}

/** A checkpoint may hold undefined where a property may be absent: JSON leaves it out. */
type Unfinished<T> = T extends object
  ? {
      [K in keyof T]: Record<never, never> extends Pick<T, K>
        ? Unfinished<T[K]> | undefined
        : Unfinished<T[K]>;
    }
  : T;

/** Keys and cursors are properties of the stream's schema, where the compiler knows both. */
type KeyedBySchema<S extends Stream> = S extends { readonly schema: TObject<infer Properties> }
  ? S & {
      readonly primaryKey?:
        | readonly NameIn<Properties, NonNullable<S["primaryKey"]>[number]>[]
        | undefined;
      readonly cursorField?: CursorIn<Properties, NonNullable<S["cursorField"]>> | undefined;
    }
  : S;
/**
 * Another name would make the stream as a whole impossible, and the compiler would refuse each of
 * its properties: an object beside the name that is there makes it refuse that alone.
 */
type CursorIn<Properties, Name extends string> = string extends keyof Properties | Name
  ? string
  : Name extends keyof Properties
    ? string
    : NotAmong<keyof Properties & string>;
interface NotAmong<Names extends string> {
  readonly "is no property of the schema, which has": Names;
}
type NameIn<Properties, Name extends string> = string extends keyof Properties | Name
  ? string
  : keyof Properties & string;

/**
 * Names of config properties; dotted paths reach into nested objects and are checked when the
 * connector loads.
 */
export type FieldOf<Spec extends TObject> =
  | (keyof Static<Spec> & string)
  | `${keyof Static<Spec> & string}.${string}`;

/**
 * Gives a source its types. The object is the module's default export; it is validated when the
 * connector loads.
 */
export function defineSource<
  Properties extends TProperties,
  const E extends Egress<FieldOf<TObject<Properties>>>,
  const S extends Stream = Stream,
  State extends TSchema = TSchema,
>(source: Source<TObject<Properties>, E, S, State>): Source<TObject<Properties>, E, S, State> {
  return source;
}

/**
 * The parts and windows of a stream in the order in which they are read, and the state after each.
 * A stream in several parts has a cursor for each of them, in the form in which Airbyte keeps
 * these.
 */
import type { HttpContext } from "../../contract/context.ts";
import type { JsonObject, JsonValue } from "../../contract/json.ts";
import { isJsonObject } from "../../contract/json.ts";
import type { Scope } from "../expressions/evaluate.ts";
import type { PlainRecord } from "../records/selector.ts";
import type { Cursor, CursorFactory, CursorPlan } from "./cursor.ts";
import { keyOf, type Partition, type Partitions } from "./partition.ts";

/** A part of a stream in one window of time: what one series of pages is read for. */
export interface Slice {
  readonly partition: Partition;
  readonly window: Scope;
  readonly cursor: Cursor | undefined;
  /** The stream's state before it: `stream_state`. Empty where nothing is known yet. */
  before(): JsonObject;
  observe(record: PlainRecord): void;
  /** Everything of it is read. */
  close(): void;
}

export interface SliceRun {
  slices(): AsyncGenerator<Slice>;
  /** After the slices that are closed. Undefined for a stream without a cursor. */
  state(): JsonObject | undefined;
  /** Whether the state is worth being kept now; one of many parts is long. */
  isDue(): boolean;
  /** Nothing follows: what holds for all parts holds now. */
  finish(): void;
}

const whole: Partition = { values: {}, extra: {} };

/** @param saved of an earlier read; of nothing where it is empty */
export function openSlices(
  ctx: HttpContext<JsonObject>,
  scope: Scope,
  plan: CursorPlan | undefined,
  partitions: Partitions,
  saved: JsonObject,
): SliceRun {
  if (!plan) return withoutCursor(ctx, scope, partitions);
  const factory = plan.open(scope);
  return partitions.isMany
    ? createPartitionedRun(ctx, scope, factory, plan.isGlobal, partitions, saved)
    : ofOneCursor(factory, saved["*"] === undefined ? saved : { [factory.field]: saved["*"] });
}

function withoutCursor(
  ctx: HttpContext<JsonObject>,
  scope: Scope,
  partitions: Partitions,
): SliceRun {
  const run = partitions.open(ctx, scope, {}, {});
  return {
    async *slices() {
      const parts = partitions.isMany ? run.list() : [whole];
      for await (const partition of parts)
        yield {
          ...{ partition, window: {}, cursor: undefined },
          ...{ before: () => ({}), observe() {}, close() {} },
        };
    },
    state: () => undefined,
    isDue: () => false,
    finish() {},
  };
}

function ofOneCursor(factory: CursorFactory, saved: JsonObject): SliceRun {
  const cursor = factory.create(saved);
  const valueNow = () => cursor.state()[factory.field];
  const first = valueNow();
  const isKnown = () => Object.keys(saved).length > 0 || valueNow() !== first;
  return {
    async *slices() {
      for (const window of cursor.windows())
        yield {
          ...{ partition: whole, window, cursor },
          before: () => (isKnown() ? cursor.state() : {}),
          observe: cursor.observe,
          close: () => cursor.close(window),
        };
    },
    state: cursor.state,
    isDue: () => true,
    finish() {},
  };
}

/** Beyond so many parts, or so long a state, one date stands for all of them. */
const maxParts = 10_000;
const maxStateChars = 800_000;

function createPartitionedRun(
  ctx: HttpContext<JsonObject>,
  scope: Scope,
  factory: CursorFactory,
  isGlobal: boolean,
  partitions: Partitions,
  saved: JsonObject,
): SliceRun {
  const { field } = factory;
  const begun = readPartitioned(saved, factory);
  const cursors = new Map<string, { partition: JsonObject; cursor: Cursor }>();
  for (const { partition, cursor } of begun.states)
    cursors.set(keyOf(partition as never), { partition, cursor: factory.create(cursor) });
  const startedMs = ctx.clock.now();
  let useGlobal = isGlobal || begun.useGlobal;
  let global = begun.global;
  let newGlobal = begun.global;
  let lookback = begun.lookback;
  let hasSynced = false;
  let closedSince = 0;
  let parentState = begun.parentState;
  const run = partitions.open(ctx, scope, begun.parentState ?? {}, saved);
  const note = (value: string) => {
    if (newGlobal === undefined || newGlobal < value) newGlobal = value;
  };
  const create = () =>
    factory.create(
      begun.global === undefined ? {} : { [field]: begun.global },
      begun.global === undefined ? 0 : begun.lookback,
    );

  const state = () => ({
    use_global_cursor: useGlobal,
    ...(useGlobal
      ? {}
      : {
          states: [...cursors.values()].map(({ partition, cursor }) => ({
            partition,
            cursor: cursor.state(),
          })),
        }),
    ...(global === undefined ? {} : { state: { [field]: global } }),
    lookback_window: lookback,
    ...(parentState === undefined ? {} : { parent_state: parentState }),
  });

  return {
    async *slices() {
      const seen = new Set<string>();
      let chars = 0;
      for await (const partition of run.list()) {
        const key = keyOf(partition.values);
        if (seen.has(key)) continue;
        seen.add(key);
        const known = cursors.get(key);
        const cursor = known?.cursor ?? create();
        chars += key.length + 100;
        if (cursors.size > maxParts || chars > maxStateChars) useGlobal = true;
        if (!known) cursors.set(key, { partition: JSON.parse(key) as JsonObject, cursor });
        for (const window of cursor.windows())
          yield {
            ...{ partition, window, cursor, before: state },
            observe(record) {
              const value = factory.valueOf(record);
              if (value === undefined) return;
              hasSynced = true;
              note(value);
              cursor.observe(record);
            },
            close() {
              closedSince++;
              if (!useGlobal) cursor.close(window);
            },
          };
        if (!useGlobal) note(String(cursor.state()[field]));
        // Parts that nobody asks for again need no cursor.
        else cursors.delete(key);
        parentState = run.parentState();
      }
    },
    isDue() {
      if (useGlobal || closedSince < Math.max(1, cursors.size / 10)) return false;
      closedSince = 0;
      return true;
    },
    finish() {
      parentState = run.parentState();
      if (!hasSynced) return;
      global = newGlobal;
      lookback = Math.max(1, Math.ceil((ctx.clock.now() - startedMs) / 1000));
    },
    state,
  };
}

interface Partitioned {
  readonly states: readonly { readonly partition: JsonObject; readonly cursor: JsonObject }[];
  readonly global: string | undefined;
  readonly useGlobal: boolean;
  readonly lookback: number;
  readonly parentState: JsonObject | undefined;
}

/** A cursor for each part, one for all of them, or the state of a stream that had no parts yet. */
function readPartitioned(saved: JsonObject, factory: CursorFactory): Partitioned {
  const dateOf = (state: JsonValue | undefined) => {
    const value = isJsonObject(state) ? (state[factory.field] ?? state["*"]) : undefined;
    return value === undefined || value === null ? undefined : factory.normalize(value);
  };
  const parentState = isJsonObject(saved.parent_state) ? saved.parent_state : undefined;
  if (!("states" in saved) && !("state" in saved))
    return { states: [], global: dateOf(saved), useGlobal: false, lookback: 0, parentState };
  const states = (Array.isArray(saved.states) ? saved.states : [])
    .filter(isJsonObject)
    .flatMap(({ partition, cursor }) =>
      isJsonObject(partition) && isJsonObject(cursor) ? [{ partition, cursor }] : [],
    );
  const lookback = Number(saved.lookback_window ?? 0);
  return {
    ...{ states, parentState },
    global: dateOf(saved.state),
    useGlobal: saved.use_global_cursor === true,
    lookback: Number.isInteger(lookback) && lookback > 0 ? Math.min(lookback, 10 ** 9) : 0,
  };
}

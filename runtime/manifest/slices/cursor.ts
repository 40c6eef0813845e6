/**
 * DatetimeBasedCursor: the windows of time that are asked for, and the state that says which of
 * them are read. States are those of Airbyte: both of its forms are read, and its sequential one
 * written.
 */
import type { JsonObject, JsonValue } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import { momentOf } from "../expressions/dates.ts";
import { clockName, type Scope } from "../expressions/evaluate.ts";
import { parseSpan, type Span } from "../expressions/moment.ts";
import type { Template } from "../expressions/template.ts";
import { toText } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import { type Added, compileInject } from "../requests/request-option.ts";
import { checkFormat, compileBoundary, formatAt } from "./boundaries.ts";
import { compileClamping } from "./clamping.ts";
import { createFactory } from "./cursor-state.ts";

/** A window of time, as expressions see it: by the names of its two ends. */
export type Window = { readonly [field: string]: string | number };

/** The cursor of a stream, or of one part of it. */
export interface Cursor {
  /** The windows that are not read yet, in order. */
  windows(): Iterable<Window>;
  /** Takes note of a record, of the window that is being read. */
  observe(record: PlainRecord): void;
  /** Everything of the window is read. */
  close(window: Window): void;
  state(): JsonObject;
  /** Whether a record is as new as what is asked for. */
  isNew(record: PlainRecord): boolean;
}

export interface CursorPlan {
  readonly fieldTemplate: Template;
  readonly isClientSide: boolean;
  readonly isDataFeed: boolean;
  readonly isGlobal: boolean;
  inject(added: Added, window: Scope, scope: Scope): void;
  /** @throws STATE_INVALID · CONFIG_INVALID for a date that is none */
  open(scope: Scope): CursorFactory;
}

export interface CursorFactory {
  readonly field: string;
  /** @param lookbackSeconds how much earlier than the state it begins @throws STATE_INVALID */
  create(state: JsonObject, lookbackSeconds?: number): Cursor;
  /** The value of a record's cursor, as states have it. Undefined when it has none. */
  valueOf(record: PlainRecord): string | undefined;
  /** A value of a state, as this cursor writes it. @throws STATE_INVALID */
  normalize(value: JsonValue): string;
}

export function compileCursor(cursor: Component): CursorPlan {
  const fieldTemplate = cursor.required("cursor_field", cursor.template("cursor_field"));
  const format = formatAt(cursor, "datetime_format") ?? "";
  if (format === "") throw invalid(cursor.at("datetime_format"), "is missing");
  const more = cursor.get("cursor_datetime_formats") ?? [];
  if (!Array.isArray(more)) throw invalid(cursor.at("cursor_datetime_formats"), "must be a list");
  const formats = [...more.map(String), format];
  for (const one of formats) checkFormat(one, cursor.at("cursor_datetime_formats"));
  const start = compileBoundary(cursor, "start_datetime", format);
  const startAt = cursor.required("start_datetime", start);
  const endAt = compileBoundary(cursor, "end_datetime", format);
  const spanAt = (name: string) => {
    const template = cursor.template(name);
    const read = (scope: Scope): Span | undefined => {
      const text = template ? toText(template.value(scope)) : "";
      if (text === "") return undefined;
      const span = parseSpan(text);
      if (!span || span.micros < 0n || (span.micros === 0n && span.months === 0 && name === "step"))
        throw invalid(cursor.at(name), "must be a duration, as P1D");
      return span;
    };
    if (template?.isPlain) read({});
    return read;
  };
  const [step, lookback] = [spanAt("step"), spanAt("lookback_window")];
  const granularity = spanAt("cursor_granularity")({});
  if ((cursor.get("step") === undefined) !== (granularity === undefined))
    throw invalid(cursor.at("step"), "and cursor_granularity need each other");
  const names = [
    cursor.get("partition_field_start") ?? "start_time",
    cursor.get("partition_field_end") ?? "end_time",
  ].map(String) as [string, string];
  const injects = (["start_time_option", "end_time_option"] as const).map((name) => {
    const option = cursor.child(name, "RequestOption");
    return option && compileInject(option);
  });
  const isStrict = cursor.get("is_compare_strictly") === true;
  const clampingOf = compileClamping(cursor, granularity);

  return {
    fieldTemplate,
    isClientSide: cursor.get("is_client_side_incremental") === true,
    isDataFeed: cursor.get("is_data_feed") === true,
    isGlobal: cursor.get("global_substream_cursor") === true,
    inject(added, window, scope) {
      for (const [index, inject] of injects.entries())
        inject?.(added, window[names[index] ?? ""], scope);
    },
    open(scope) {
      const field = toText(fieldTemplate.value(scope));
      const { clamp, end } = clampingOf(scope);
      return createFactory({
        ...{ field, names, formats, format, granularity, isStrict, clamp },
        start: startAt(scope),
        end: () => end(endAt?.(scope) ?? momentOf(Number(scope[clockName]))),
        step: step(scope),
        lookback: lookback(scope),
      });
    },
  };
}

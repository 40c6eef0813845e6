/** IncrementingCountCursor: records whose field counts upwards, asked for from the last one on. */
import { ConnectorError } from "../../contract/errors.ts";
import type { Component } from "../document/component.ts";
import { type PlainValue, toText } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import { compileInject } from "../requests/request-option.ts";
import type { CursorPlan } from "./cursor.ts";

export function compileCountCursor(cursor: Component): CursorPlan {
  const fieldTemplate = cursor.required("cursor_field", cursor.template("cursor_field"));
  const start = cursor.template("start_value");
  const option = cursor.child("start_value_option", "RequestOption");
  const inject = option && compileInject(option);
  return {
    ...{ fieldTemplate, isClientSide: false, isDataFeed: false, isGlobal: false },
    inject(added, window, scope) {
      inject?.(added, window.start, scope);
    },
    open(scope) {
      const field = toText(fieldTemplate.value(scope));
      const first = countOf(start?.value(scope) ?? 0);
      if (first === undefined)
        throw new ConnectorError("CONFIG_INVALID", {
          path: cursor.at("start_value"),
          problem: "is no whole number",
        });
      const fromState = (value: PlainValue): number => {
        const found = countOf(value);
        if (found !== undefined) return found;
        throw new ConnectorError("STATE_INVALID", { path: field, problem: "is no whole number" });
      };
      const countIn = (record: PlainRecord) =>
        Object.hasOwn(record, field) ? countOf(record[field]) : undefined;
      return {
        field,
        valueOf: (record) => countIn(record)?.toString(),
        normalize: (value) => String(fromState(value as PlainValue)),
        create(state) {
          const saved = state[field];
          const known =
            saved === undefined || saved === null ? first : fromState(saved as PlainValue);
          const from = Math.max(first, known);
          let newest: number | undefined;
          let read: number | undefined;
          return {
            *windows() {
              yield { start: from };
            },
            observe(record) {
              const value = countIn(record);
              if (value !== undefined) newest = Math.max(newest ?? value, value);
            },
            close() {
              read = newest;
            },
            state: () => ({ ...state, [field]: Math.max(from, read ?? from) }),
            isNew: () => true,
          };
        },
      };
    },
  };
}

function countOf(value: PlainValue): number | undefined {
  const made = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof made === "number" && Number.isSafeInteger(made) ? made : undefined;
}

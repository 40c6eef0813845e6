/** The dates between which a DatetimeBasedCursor reads, as a manifest names them. */
import { ConnectorError } from "../../contract/errors.ts";
import type { Component } from "../document/component.ts";
import { Unsupported } from "../document/invalid.ts";
import { isFormat, parseMoment } from "../expressions/dates.ts";
import type { Scope } from "../expressions/evaluate.ts";
import type { Moment } from "../expressions/moment.ts";
import type { Template } from "../expressions/template.ts";
import { toText } from "../expressions/values.ts";

/**
 * A format of dates. Undefined where none is given.
 * @throws CONNECTOR_INVALID as {@link checkFormat}
 */
export function formatAt(component: Component, name: string): string | undefined {
  const format = component.get(name);
  if (format === undefined || format === null || format === "") return undefined;
  checkFormat(String(format), component.at(name));
  return String(format);
}

/** @throws CONNECTOR_INVALID for a code that is not supported */
export function checkFormat(format: string, path: string): void {
  if (!isFormat(format))
    throw new Unsupported(path, "has a format code that is not supported here");
}

/** A date that a manifest names, alone or between two others. */
export function compileBoundary(
  cursor: Component,
  name: string,
  usual: string,
): ((scope: Scope) => Moment) | undefined {
  const written = cursor.get(name);
  if (written === undefined || written === null || written === "") return undefined;
  const isText = typeof written !== "object";
  const bounds = isText ? undefined : cursor.child(name, "MinMaxDatetime");
  const text = bounds
    ? bounds.required("datetime", bounds.template("datetime"))
    : cursor.required(name, cursor.template(name));
  const format = (bounds && formatAt(bounds, "datetime_format")) ?? usual;
  const read = (template: Template, scope: Scope): Moment | undefined => {
    const made = toText(template.value(scope));
    const found = made === "" ? undefined : parseMoment(made, format);
    if (made !== "" && !found)
      throw new ConnectorError("CONFIG_INVALID", {
        path: cursor.at(name),
        problem: `is no date in the format ${format}`,
      });
    return found;
  };
  const [least, most] = [bounds?.template("min_datetime"), bounds?.template("max_datetime")];
  return (scope) => {
    let made = read(text, scope);
    if (!made)
      throw new ConnectorError("CONFIG_INVALID", { path: cursor.at(name), problem: "is empty" });
    const [low, high] = [least && read(least, scope), most && read(most, scope)];
    if (low && low.micros > made.micros) made = low;
    if (high && high.micros < made.micros) made = high;
    return made;
  };
}

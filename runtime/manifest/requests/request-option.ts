/** The options that paginators, routers, cursors and authenticators add to a request, and where. */
import type { UnsignedToken } from "../../contract/jwt.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import type { PlainValue } from "../expressions/values.ts";

export interface Added {
  readonly request_parameter: Record<string, PlainValue>;
  readonly header: Record<string, PlainValue>;
  readonly body_json: Record<string, PlainValue>;
  readonly body_data: Record<string, PlainValue>;
  /** A path or a whole URL in place of the requester's. */
  path?: string;
  /** A token that the host signs for it. */
  jwt?: UnsignedToken;
}
export const nothingAdded = (): Added => ({
  request_parameter: {},
  header: {},
  body_json: {},
  body_data: {},
});
type Place = Exclude<keyof Added, "path" | "jwt">;
const places: readonly Place[] = ["request_parameter", "header", "body_json", "body_data"];

/** Puts a value where a RequestOption says. */
export type Inject = (added: Added, value: PlainValue, scope: Scope) => void;

export function compileInject(option: Component): Inject {
  const into = places.find((one) => one === option.get("inject_into"));
  if (!into) throw invalid(option.at("inject_into"), `must be one of ${places.join(", ")}`);
  const path = option.get("field_path");
  if (path === undefined || path === null) {
    const name = option.required("field_name", option.template("field_name"));
    return (added, value, scope) => {
      added[into][name.text(scope)] = value;
    };
  }
  if (into !== "body_json" || !Array.isArray(path) || path.length === 0)
    throw invalid(option.at("field_path"), "must be a list of names, in body_json");
  const steps = path.map((one) => compileTemplate(String(one), option.at("field_path")));
  return (added, value, scope) => {
    let at = added.body_json;
    const names = steps.map((step) => step.text(scope));
    if (names.includes("__proto__")) throw invalid(option.at("field_path"), 'names "__proto__"');
    for (const name of names.slice(0, -1)) {
      const inner = Object.hasOwn(at, name) ? at[name] : undefined;
      const next = typeof inner === "object" && inner !== null ? inner : {};
      at[name] = next;
      at = next as Record<string, PlainValue>;
    }
    at[names.at(-1) ?? ""] = value;
  };
}

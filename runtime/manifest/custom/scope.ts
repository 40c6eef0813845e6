/** The arguments of an author's own component: where it stands, and what is being read. */
import type { CustomRequestScope, CustomScope } from "../../contract/custom-components.ts";
import { isJsonObject, type JsonValue } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import type { PlainValue } from "../expressions/values.ts";
import type { ManifestContext } from "../slices/partition.ts";
import type { CustomPart } from "./code.ts";

type Evaluate = (scope: Scope) => PlainValue;

/** The part of an author's own, and what makes its scope. */
export interface OwnPart {
  readonly part: CustomPart;
  scopeOf(scope: Scope): CustomScope;
  /** The same with a way to ask the provider. */
  requestScopeOf(ctx: ManifestContext, scope: Scope): CustomRequestScope;
}

/** Parts that are components themselves, and not told as options. */
const notOptions = ["type", "class_name", "$parameters", "parent_stream_configs"];

/** Undefined for a component of svc's own. */
export function ownPartOf({ custom, value, path, parameters }: Component): OwnPart | undefined {
  if (!custom) return undefined;
  const options = Object.entries(value)
    .filter(([name]) => !notOptions.includes(name))
    .map(([name, one]) => [name, compileOption(one ?? null, `${path}.${name}`)] as const);
  const scopeOf = (scope: Scope): CustomScope => ({
    options: Object.fromEntries(
      options.map(([name, evaluate]) => [
        name,
        evaluate({ ...scope, parameters: parameters as Scope }),
      ]),
    ),
    parameters,
    config: (scope.config ?? {}) as never,
    slice: (scope.stream_slice ?? {}) as Scope,
  });
  return {
    part: custom,
    scopeOf,
    requestScopeOf: ({ http, log, signal }, scope) => ({ ...scopeOf(scope), http, log, signal }),
  };
}

/** A text without an expression stays as it is. */
function compileOption(value: JsonValue, path: string): Evaluate {
  if (typeof value === "string")
    return /\{[{%]/.test(value) ? compileTemplate(value, path).value : () => value;
  if (Array.isArray(value)) {
    const parts = value.map((one, index) => compileOption(one, `${path}.${index}`));
    return (scope) => parts.map((part) => part(scope));
  }
  if (!isJsonObject(value)) return () => value;
  const parts = Object.entries(value)
    .filter(([name]) => name !== "$parameters")
    .map(([name, one]) => [name, compileOption(one ?? null, `${path}.${name}`)] as const);
  return (scope) => Object.fromEntries(parts.map(([name, part]) => [name, part(scope)]));
}

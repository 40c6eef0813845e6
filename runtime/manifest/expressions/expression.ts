/** Expressions as trees of a closed grammar, and the variables that stand in them. */
import type { CallKind } from "./functions.ts";
import type { PlainValue } from "./values.ts";

export type Expression =
  | { readonly kind: "constant"; readonly value: PlainValue }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "list" | "tuple"; readonly items: readonly Expression[] }
  | {
      readonly kind: "map";
      readonly entries: readonly (readonly [Expression, Expression])[];
    }
  | { readonly kind: "item"; readonly of: Expression; readonly key: Expression }
  | {
      readonly kind: "slice";
      readonly of: Expression;
      readonly bounds: readonly (Expression | undefined)[];
    }
  | {
      readonly kind: "call";
      readonly what: CallKind;
      readonly name: string;
      readonly args: readonly Expression[];
    }
  | {
      /** A macro of the template itself. */
      readonly kind: "invoke";
      readonly name: string;
      readonly args: readonly Expression[];
      readonly named: readonly (readonly [string, Expression])[];
    }
  | {
      readonly kind: "test";
      readonly name: string;
      readonly of: Expression;
      readonly args: readonly Expression[];
    }
  | { readonly kind: "not" | "minus"; readonly of: Expression }
  | {
      readonly kind: "binary";
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: "choice";
      readonly condition: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    };

/** The variables that an expression may see by the published schema. */
export const variableNames: readonly string[] = [
  ...["config", "parameters", "headers", "last_record", "last_page_size", "next_page_token"],
  ...["record", "response", "stream_partition", "stream_slice", "stream_interval", "page_size"],
  ...["session_token", "property", "creation_response", "polling_response", "download_target"],
  ...["raw_schema", "components_values", "stream_template_config", "stream_state"],
];

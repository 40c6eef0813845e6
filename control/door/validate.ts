import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { TObject } from "typebox";
import { ControlError, type FieldFault, type Reason } from "../contract/reasons.ts";
import { isStorable, safeName } from "./json-body.ts";

const addFormats = formats as unknown as (ajv: Ajv2020) => void;

/** Most faults that one answer lists. */
const maxFaults = 20;

const createAjv = (options: object) => {
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    ownProperties: true,
    ...options,
  });
  addFormats(ajv);
  return ajv;
};

const bodies = createAjv({});
/** Query parameters are text: "50" is a number where one is asked for. */
const queries = createAjv({ coerceTypes: true });

/** Checks a value and fills defaults into it. @throws `reason` with the places, never a value */
export type Validate = (value: unknown) => void;

export const validateBody = (schema: TObject): Validate => compile(bodies, schema, "validation_failed");
export const validateQuery = (schema: TObject): Validate => compile(queries, schema, "invalid_query");

function compile(ajv: Ajv2020, schema: TObject, reason: Reason): Validate {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return;
    const faults = new Map(
      (validate.errors ?? []).map((error) => [
        JSON.stringify([error.instancePath, error.keyword, error.params]),
        toFault(error),
      ]),
    );
    throw new ControlError(reason, { errors: [...faults.values()].slice(0, maxFaults) });
  };
}

/** @throws invalid_query when a text of the query or path cannot be stored */
export function checkTexts(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    const texts = Array.isArray(value) ? value : [value];
    if (texts.every((text) => typeof text !== "string" || isStorable(text))) continue;
    throw new ControlError("invalid_query", {
      errors: [{ path: safeName(name) ?? "", reason: "text", message: "holds a character that cannot be stored" }],
    });
  }
}

function toFault({ instancePath, keyword, params, message }: ErrorObject): FieldFault {
  const path = toPath(instancePath);
  const at = (name: string) => [path, name].filter((part) => part !== "").join(".");
  const fault = (reason: string, text: string, where = path): FieldFault => ({ path: where, reason, message: text });
  switch (keyword) {
    case "required":
      return fault("missing", "is missing", at(String(params.missingProperty)));
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = safeName(String(params.additionalProperty ?? params.unevaluatedProperty));
      return fault("unknown", name ? "is not a known field" : "has a field that is not known", name ? at(name) : path);
    }
    case "type":
      return fault("type", `must be ${[params.type].flat().join(" or ")}`);
    case "enum":
      return fault("enum", `must be one of ${(params.allowedValues as unknown[]).join(", ")}`);
    case "const":
    case "pattern":
      return fault("form", "does not have the required form");
    case "anyOf":
    case "oneOf":
      return fault("form", "has none of the allowed forms");
    default:
      return fault(keyword, message ?? "is not valid");
  }
}

/** Of what the caller named, only what looks like a name is repeated. */
function toPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => (/^\d{1,6}$/.test(part) ? part : (safeName(part) ?? "*")))
    .join(".");
}

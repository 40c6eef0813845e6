import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isSecretName } from "svc-connectors/host";
import type { TObject, TSchema } from "typebox";
import { ControlError, type FieldFault, type Reason } from "../contract/reasons.ts";
import { isStorable, safeName } from "./json-body.ts";

const addFormats = formats as unknown as (ajv: Ajv2020) => void;

/** Most faults that one answer lists. */
const maxFaults = 20;

const ajv = new Ajv2020({
  allErrors: true,
  useDefaults: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  ownProperties: true,
  // The schemas are this API's own: compiling what they would be checked with takes longer than
  // all.
  validateSchema: false,
});
addFormats(ajv);

/** Checks a value and fills defaults into it. @throws `reason` with the places, never a value */
export type Validate = (value: unknown) => void;

export const validateBody = (schema: TObject): Validate => compile(schema, "validation_failed");

/**
 * Query parameters are text: "50" is a number where one is asked for, and "5e1", "0x32" or " 50" is
 * none.
 */
export function validateQuery(schema: TObject): Validate {
  const validate = compile(schema, "invalid_query");
  const types = Object.entries(schema.properties).map(
    ([name, property]) => [name, typeOf(property)] as const,
  );
  return (value) => {
    const query = value as Record<string, unknown>;
    for (const [name, type] of types) {
      const text = query[name];
      if (typeof text !== "string") continue;
      if (type === "integer" && /^-?(0|[1-9]\d{0,14})$/.test(text)) query[name] = Number(text);
      if (type === "boolean" && /^(true|false)$/.test(text)) query[name] = text === "true";
    }
    validate(query);
  };
}

const typeOf = (schema: TSchema) => (schema as { readonly type?: unknown }).type;

function compile(schema: TObject, reason: Reason): Validate {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return;
    const faults = new Map(
      (validate.errors ?? [])
        .slice(0, 10 * maxFaults)
        .map((error) => [
          JSON.stringify([error.instancePath, error.keyword, error.params]),
          toFault(error),
        ]),
    );
    const secrets = [...faults.values()].filter((fault) => fault.reason === "secret_not_allowed");
    // Whatever else is wrong: that a secret was sent where none belongs is what its owner must
    // know.
    if (reason === "validation_failed" && secrets.length > 0)
      throw new ControlError("secret_not_allowed", { errors: secrets.slice(0, maxFaults) });
    throw new ControlError(reason, { errors: [...faults.values()].slice(0, maxFaults) });
  };
}

/** @throws invalid_query when a text of the query or path cannot be stored */
export function checkTexts(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    const texts = Array.isArray(value) ? value : [value];
    if (texts.every((text) => typeof text !== "string" || isStorable(text))) continue;
    throw new ControlError("invalid_query", {
      errors: [
        {
          path: safeName(name) ?? "",
          reason: "text",
          message: "holds a character that cannot be stored",
        },
      ],
    });
  }
}

function toFault({ instancePath, keyword, params, message }: ErrorObject): FieldFault {
  const path = toPath(instancePath);
  const at = (name: string) => [path, name].filter((part) => part !== "").join(".");
  const fault = (reason: string, text: string, where = path): FieldFault => ({
    path: where,
    reason,
    message: text,
  });
  switch (keyword) {
    case "required":
      return fault("missing", "is missing", at(String(params.missingProperty)));
    case "additionalProperties":
    case "unevaluatedProperties": {
      const given = String(params.additionalProperty ?? params.unevaluatedProperty);
      const name = safeName(given);
      if (isSecretName(given, "mention"))
        return fault(
          "secret_not_allowed",
          "is a secret, which only the credential endpoints take",
          name ? at(name) : path,
        );
      return fault(
        "unknown",
        name ? "is not a known field" : "has a field that is not known",
        name ? at(name) : path,
      );
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

/** The path of a fault: of the caller's names, only what looks like one is repeated. */
function toPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => (/^\d{1,6}$/.test(part) ? part : (safeName(part) ?? "*")))
    .join(".");
}

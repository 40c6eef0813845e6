import type { OperationInput } from "../contract/operation.ts";
import { ControlError, type FieldFault } from "../contract/reasons.ts";

/** Most places that one answer names. */
const maxPlaces = 20;

type Input = Pick<OperationInput<unknown, unknown, unknown>, "query" | "body">;

/**
 * A 404 with the places of the query and the body that name what does not exist. What the address
 * names has none: the address says it.
 */
export function locate(error: ControlError, input: Input | undefined): ControlError {
  const { missing, details } = error;
  if (missing === undefined || !input) return error;
  const places = [...placesOf(input.body, missing), ...placesOf(input.query, missing)];
  if (places.length === 0) return error;
  const kind = String(details.resource);
  // An id stands at one place, as a rule; where it stands at several, the one of its kind is meant.
  const own = places.filter((path) => namesKind(path, kind));
  const errors = (own.length > 0 ? own : places).slice(0, maxPlaces).map(
    (path): FieldFault => ({
      path,
      reason: "not_found",
      message: `names no ${kind.replaceAll("_", " ")}`,
    }),
  );
  return new ControlError(error.reason, { ...details, errors }, error.headers, missing);
}

/** `credential_handle` names a credential, `modelId` a reverse_etl_model. */
function namesKind(path: string, kind: string): boolean {
  const name = path.split(".").findLast((part) => !/^\d+$/.test(part)) ?? "";
  return name.startsWith(kind.split("_").at(-1) ?? kind);
}

function* placesOf(
  value: unknown,
  sought: string,
  path: readonly string[] = [],
): Generator<string> {
  if (value === sought) yield path.join(".");
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value))
    yield* placesOf(inner, sought, [...path, name]);
}

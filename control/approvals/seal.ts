/** Takes the secrets out of a body before it is kept, and puts them back when it is carried out. */
import { createSecretRegistry, isSecretName } from "svc-connectors/host";
import { ControlError } from "../contract/reasons.ts";

/** A place in a body. */
export type SecretPath = readonly string[];

export interface SealedBody {
  /** The body with "[redacted]" in place of each secret. */
  readonly body: Record<string, unknown>;
  readonly places: readonly SecretPath[];
  /** The values that stood there, in the order of the places. */
  readonly values: readonly unknown[];
}

const redacted = "[redacted]";

/**
 * A value in a declared field, under a name of a secret, or with a text of one of those in it, is
 * taken out.
 * @param secretFields dotted paths
 * @throws secret_not_allowed when the name of a property holds a secret
 */
export function takeSecrets(body: object, secretFields: readonly string[]): SealedBody {
  const secrets = createSecretRegistry();
  let isAny = false;
  const isDeclared = (place: SecretPath) =>
    secretFields.includes(place.join(".")) || isSecretName(place.at(-1) ?? "", "mention");
  const note = (value: unknown) => {
    if (typeof value === "object" && value !== null) return void Object.values(value).forEach(note);
    if (value === null || value === "") return;
    secrets.add(String(value));
    isAny = true;
  };
  const holdsSecret = (value: unknown) =>
    isAny && secrets.contains(Buffer.from(JSON.stringify([value])));

  replace(body, (place, value) => {
    if (isDeclared(place)) note(value);
    return undefined;
  });
  const places: SecretPath[] = [];
  const values: unknown[] = [];
  const kept = replace(body, (place, value) => {
    const isLeaf = typeof value !== "object" || value === null;
    if (value === null || !(isDeclared(place) || (isLeaf && holdsSecret(value)))) return undefined;
    places.push(place);
    values.push(value);
    return { with: redacted };
  });
  if (holdsSecret(kept)) throw new ControlError("secret_not_allowed");
  return { body: kept, places, values };
}

/** The body as it was. */
export function putSecrets(
  body: object,
  places: readonly SecretPath[],
  values: readonly unknown[],
): Record<string, unknown> {
  const found = new Map(places.map((place, index) => [JSON.stringify(place), values[index]]));
  return replace(body, (place) => {
    const key = JSON.stringify(place);
    return found.has(key) ? { with: found.get(key) } : undefined;
  });
}

type SecretChange = (place: SecretPath, value: unknown) => { readonly with: unknown } | undefined;

/** A copy in which each value stands for which `change` gives one; into the others it goes down. */
function replace(body: object, change: SecretChange): Record<string, unknown> {
  const copy = (value: unknown, place: SecretPath): unknown => {
    const changed = place.length === 0 ? undefined : change(place, value);
    if (changed) return changed.with;
    if (Array.isArray(value))
      return value.map((one, index) => copy(one, [...place, String(index)]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, copy(member, [...place, name])]),
    );
  };
  return copy(body, []) as Record<string, unknown>;
}

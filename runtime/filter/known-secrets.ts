/** The parts of a run's secrets that it searches for, counted, and those that have passed. */
import { ConnectorError } from "../contract/errors.ts";
import { type SecretPart, type Strength, secretParts } from "./secret-parts.ts";
import type { SecretLimits } from "./secrets.ts";

export interface KnownSecrets {
  /**
   * The parts that were not known yet.
   * @throws CONNECTOR_PROTOCOL as the registry does
   */
  add(value: string): SecretPart[];
  addPassing(token: string): SecretPart[];
  /** Bytes that have been forgotten, and are still searched for until there is a new search. */
  forgottenBytes(): number;
  /** All parts, for a new search. */
  renew(): SecretPart[];
}

export function createKnownSecrets(limits: SecretLimits | undefined): KnownSecrets {
  const kept = new Map<string, Strength>();
  const passing = new Map<string, Strength>();
  let keptBytes = 0;
  let shortCount = 0;
  let passingBytes = 0;
  let forgottenBytes = 0;

  const isKnown = ({ value, strength }: SecretPart) => {
    const known = kept.get(value) ?? passing.get(value);
    return known === strength || known === "piece";
  };
  const isShort = ({ strength }: SecretPart) => strength !== "piece";
  const refuse = (problem: string) => {
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem });
  };
  const partsOf = (all: ReadonlyMap<string, Strength>): SecretPart[] =>
    [...all].map(([value, strength]) => ({ value, strength }));

  return {
    add(value) {
      const parts = distinct(secretParts(value));
      const unkept = parts.filter((part) => !isIn(kept, part));
      const bytes = unkept.reduce((sum, part) => sum + Buffer.byteLength(part.value), 0);
      const short = unkept.filter(isShort).length;
      if (limits && keptBytes + bytes > limits.together)
        refuse(`the secrets and tokens of its run are more than ${limits.together} bytes`);
      if (limits && shortCount + short > limits.short)
        refuse(`its run has more than ${limits.short} secrets of less than ten characters`);
      const added = unkept.filter((part) => !isKnown(part));
      for (const part of unkept) kept.set(part.value, part.strength);
      keptBytes += bytes;
      shortCount += short;
      return added;
    },
    addPassing(token) {
      const parts = distinct(secretParts(token)).filter((part) => !isIn(kept, part));
      const added = parts.filter((part) => !isKnown(part));
      for (const { value, strength } of parts) {
        if (passing.delete(value)) passingBytes -= Buffer.byteLength(value);
        passing.set(value, strength);
        passingBytes += Buffer.byteLength(value);
      }
      for (const [value] of passing) {
        if (!limits || passingBytes <= limits.passing || passing.size <= parts.length) break;
        passing.delete(value);
        passingBytes -= Buffer.byteLength(value);
        forgottenBytes += Buffer.byteLength(value);
      }
      return added;
    },
    forgottenBytes: () => forgottenBytes,
    renew() {
      forgottenBytes = 0;
      return [...partsOf(kept), ...partsOf(passing)];
    },
  };
}

function isIn(all: ReadonlyMap<string, Strength>, { value, strength }: SecretPart): boolean {
  const known = all.get(value);
  return known === strength || known === "piece";
}

/** Each value once; a piece of it counts more than the whole. */
function distinct(parts: readonly SecretPart[]): SecretPart[] {
  const byValue = new Map<string, SecretPart>();
  for (const part of parts)
    if (byValue.get(part.value)?.strength !== "piece") byValue.set(part.value, part);
  return [...byValue.values()];
}

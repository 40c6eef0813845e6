/**
 * The keys under which everything secret of an instance is sealed. Only its operator asks for
 * these.
 */
import { Type } from "typebox";
import { defineOperatorRead, defineOperatorWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Nullable, StrictObject, Time } from "../contract/schemas.ts";
import type { Services } from "../services/services.ts";
import { listKeys, pruneKeys, rotateKeys } from "../vault/keys.ts";

const KeyId = Type.String();

export const RotatedKeys = StrictObject({ current: KeyId, rewrapped: Type.Integer() });

export const rotateInstanceKeys = defineOperatorWrite({
  id: "key.rotate",
  area: "Keys",
  summary: "Make a new key, and seal every secret under it",
  resource: "key",
  isRepeatable: true,
  mustFinish: true,
  data: RotatedKeys,
  errors: ["not_found"],
  // It goes row by row, and may be done again: one transaction would keep others waiting.
  prepare: ({ services }) => rotateKeys(services, requireFile(services)),
  commit: async (_tx, _ctx, _input, data) => ({ data, resourceId: data.current }),
});

export const Keys = StrictObject({
  keys: Type.Array(
    StrictObject({
      key_id: KeyId,
      current: Type.Boolean(),
      secrets: Type.Integer({ description: "Values that it has sealed." }),
      used_since: Nullable(Time),
    }),
  ),
});

export const listInstanceKeys = defineOperatorRead({
  id: "key.list",
  area: "Keys",
  summary: "List the keys",
  data: Keys,
  errors: ["not_found"],
  run: async ({ services }) => ({ keys: await listKeys(services, requireFile(services)) }),
});

export const PrunedKeys = StrictObject({
  removed: Type.Array(KeyId),
  kept: Type.Array(KeyId),
  current: KeyId,
});

export const pruneInstanceKeys = defineOperatorWrite({
  id: "key.prune",
  area: "Keys",
  summary: "Remove the keys that seal nothing any more",
  resource: "key",
  isRepeatable: true,
  mustFinish: true,
  data: PrunedKeys,
  errors: ["not_found"],
  prepare: ({ services }) => pruneKeys(services, requireFile(services)),
  commit: async (_tx, _ctx, _input, data) => ({ data, resourceId: data.current }),
});

/** @throws not_found when the keys live in memory */
function requireFile({ keyFile }: Services): string {
  if (keyFile === undefined) throw new ControlError("not_found", { resource: "key_file" });
  return keyFile;
}

export const instanceKeyOperations = [rotateInstanceKeys, listInstanceKeys, pruneInstanceKeys];

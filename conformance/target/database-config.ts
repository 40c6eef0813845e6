/** The settings by which a connector finds its database: by the names that its egress declares. */
import type { Egress, JsonObject } from "svc-connectors";
import { settingAt, withSetting } from "../contract/config-setting.ts";
import { databaseEgress, databaseKinds } from "../contract/database-kind.ts";
import type { DatabaseLogin } from "./database.ts";

/** Names of RFC 2606: the kit leads every host to its server. */
const standIns = {
  host: "database.example.net",
  database: "conformance",
  username: "svc_reader",
} as const;

/**
 * The configuration with what leads to the kit's database, where the author does not say otherwise.
 */
export function databaseConfig(egress: Egress | undefined, config: JsonObject): JsonObject {
  const declared = databaseEgress(egress);
  if (!declared) return { ...config };
  const values = { ...standIns, port: databaseKinds[declared.kind].port };
  return Object.entries(values).reduce<JsonObject>((filled, [setting, value]) => {
    const path = declared[setting as keyof typeof values].split(".");
    return settingAt(filled, path) === undefined
      ? (withSetting(filled, path, value) as JsonObject)
      : filled;
  }, config);
}

/** The login that the connector will use. */
export function databaseLogin(egress: Egress | undefined, config: JsonObject): DatabaseLogin {
  const text = (field = "") => String(settingAt(config, field.split(".")) ?? "");
  const { database, username, password } = databaseEgress(egress) ?? {};
  return { database: text(database), role: text(username), password: text(password) };
}

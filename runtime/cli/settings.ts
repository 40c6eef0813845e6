import { stat } from "node:fs/promises";
import { BlockList, isIP } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { NetworkSettings } from "../contract/network.ts";
import { readDocument } from "./files.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** Looked for in the working folder. */
const settingsFileName = "svc.config.yaml";

const networkSettingNames = ["approved_hosts", "allow_networks"] as const;

/**
 * Settings that the control API reads from the same file. They are known here by name, so that one
 * file serves both.
 */
export const controlSettingNames = [
  "oauth_apps",
  "connectors",
  "images",
  "limits",
  "jobs",
  "key_file",
  "warehouses",
  "database_url",
  "server",
  "public_url",
  "mail",
  "telemetry",
  "retention",
  "audit_archive",
] as const;

const settingNames: readonly string[] = [...networkSettingNames, ...controlSettingNames];

/**
 * The operator's settings as they stand in their file. Every name in it is known; only `network`
 * has been checked further.
 */
export interface SettingsFile {
  /** The file's name in messages. */
  readonly name: string;
  /** Paths in the file are relative to it. */
  readonly folder: string;
  readonly values: JsonObject;
  readonly network: NetworkSettings;
}

/**
 * The operator's settings, from `file` or from svc.config.yaml in `cwd`; empty when there is none.
 * @throws UsageError naming the file and the setting
 */
export async function readSettings(cwd: string, file?: string): Promise<SettingsFile> {
  const path = file ?? settingsFileName;
  const isThere = file !== undefined || (await exists(join(cwd, settingsFileName)));
  const document = isThere ? await readDocument(path, "config", cwd) : null;
  const name = printable(path);
  const network = parseSettings(document, name);
  return {
    name,
    folder: dirname(resolve(cwd, path)),
    values: (document ?? {}) as JsonObject,
    network,
  };
}

/**
 * The networks and hosts that the operator allows connections to.
 * @throws UsageError as {@link readSettings}
 */
export async function loadSettings(cwd: string, file?: string): Promise<NetworkSettings> {
  return (await readSettings(cwd, file)).network;
}

/** @param name how messages call the file */
export function parseSettings(document: JsonValue, name: string): NetworkSettings {
  const refuse = (problem: string) => new UsageError(`settings in ${name}: ${problem}`);
  if (typeof (document ?? {}) !== "object" || Array.isArray(document))
    throw refuse("must be an object");
  const settings = (document ?? {}) as JsonObject;
  for (const key of Object.keys(settings)) {
    if (!settingNames.includes(key))
      throw refuse(`${printable(key)} is not a setting${suggestion(key, settingNames)}`);
  }
  const list = (
    setting: (typeof networkSettingNames)[number],
    isValid: (text: string) => boolean,
    expected: string,
  ): string[] => {
    const items = settings[setting] ?? [];
    if (!Array.isArray(items)) throw refuse(`${setting} must be a list`);
    return items.map((item, index) => {
      if (typeof item !== "string" || !isValid(item))
        throw refuse(`${setting}[${index}] must be ${expected}`);
      return item;
    });
  };
  return {
    approvedHosts: list(
      "approved_hosts",
      isHostPattern,
      'a host name like "mail.example.com" or "*.example.com"',
    ),
    allowNetworks: list("allow_networks", isNetwork, 'a network like "10.1.0.0/16"'),
  };
}

/**
 * An exact name, or `*.` and a suffix of at least two labels, so that nobody approves a whole
 * top-level domain.
 */
function isHostPattern(text: string): boolean {
  const labels = text.toLowerCase().replace(/^\*\./, "").split(".");
  const isName = labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  return isName && text.length <= 253 && labels.length >= 2 && isIP(text) === 0;
}

function isNetwork(text: string): boolean {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 6 ? "ipv6" : "ipv4");
    return true;
  } catch {
    return false;
  }
}

/**
 * Networks that a database connector may reach when a person runs it at a terminal: that person is
 * the operator, and databases live on this machine and in private networks (RFC 1918, RFC 4193).
 * Link-local addresses stay closed.
 */
export const ownNetworks: readonly string[] = [
  "127.0.0.0/8",
  "::1/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
];

const exists = (path: string) =>
  stat(resolve(path)).then(
    () => true,
    () => false,
  );

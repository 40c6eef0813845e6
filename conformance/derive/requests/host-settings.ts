/** Settings by which a user says where requests go. */

import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";
import { databaseEgress } from "../../contract/database-kind.ts";
import type { Lab } from "../../contract/lab.ts";

export interface HostSetting {
  /** Steps into the configuration. */
  readonly path: readonly string[];
  /**
   * url: a whole one · host: its name, or name and port · part: some of its labels, the rest is the
   * connector's.
   */
  readonly kind: "url" | "host" | "part";
  /** The value of the setting for this host: for a URL, with the scheme and path that are usual. */
  write(host: string): string;
}

/** A name that nobody has (RFC 2606), by which the kit sees where a setting goes. */
const probe = "svc-probe";
const likelyName =
  /(^|_|-)(base_?url|url|uri|endpoint|host|hostname|server|domain|subdomain|instance|site|shop|store|account_?url|address)(_|-|$)/i;
const likelyFormat = /^(uri|url|iri|hostname|idn-hostname|ipv4|ipv6)$/;
/** Settings of unknown use that are tried out. */
const mostProbed = 6;

/**
 * Found by format, name or default; else by a check that sends requests elsewhere when the setting
 * changes. Done once.
 */
export function hostSettings(lab: Lab): Promise<readonly HostSetting[]> {
  return lab.once("host settings", async () => {
    const found: HostSetting[] = [];
    const open = freeTexts(lab.spec, lab.config).filter(
      ({ path }) => !lab.secretPaths.includes(`/${path.join("/")}`),
    );
    const declared = declaredField(lab);
    const isLikely = ({ path, schema, value }: FreeText) =>
      path.join(".") === declared ||
      likelyFormat.test(String(schema.format)) ||
      likelyName.test(path.at(-1) ?? "") ||
      isUrl(value);
    for (const one of open.filter(isLikely))
      found.push(toSetting(one, await reachOf(lab, one, probe)));
    for (const one of lab.sample(
      open.filter((text) => !isLikely(text)),
      mostProbed,
    )) {
      const reached = await reachOf(lab, one, probe);
      if (reached !== undefined) found.push(toSetting(one, reached));
    }
    return found;
  });
}

interface FreeText {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** The configured one, else the default or first example. */
  readonly value: string;
}

function toSetting({ path, schema, value }: FreeText, reached: string | undefined): HostSetting {
  if (isUrl(value)) return { path, kind: "url", write: (host) => withHost(value, host) };
  if (/^(uri|url|iri)$/.test(String(schema.format)) || /ur[li]|endpoint/i.test(path.at(-1) ?? ""))
    return { path, kind: "url", write: (host) => `https://${host}` };
  const isPart = reached !== undefined && reached !== probe && reached.includes(probe);
  return { path, kind: isPart ? "part" : "host", write: (host) => host };
}

/** Replaces text: the URL class would write an address in its usual form. */
const withHost = (url: string, host: string) =>
  url.replace(/^(https?:\/\/)(?:[^/?#@]*@)?[^/?#:]+/i, `$1${host}`);

const isUrl = (value: string) => /^https?:\/\//i.test(value);

/**
 * The host that a check asks when the setting names the probe; undefined when none has to do with
 * it.
 */
async function reachOf(
  lab: Lab,
  { path, value }: FreeText,
  name: string,
): Promise<string | undefined> {
  const config = withSetting(
    lab.config,
    path,
    isUrl(value) ? withHost(value, `${name}.example.net`) : name,
  );
  const { exchanges } = await lab.run({ verb: "check", config });
  return exchanges
    .map(({ request }) => request.url.hostname)
    .find((hostname) => hostname.includes(name));
}

/** Texts that the user writes freely, also in the branch of alternatives that is configured. */
function freeTexts(
  schema: JsonObject,
  config: JsonObject,
  path: readonly string[] = [],
): FreeText[] {
  const alternatives = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? (list as JsonObject[]) : [],
  );
  const own = Object.entries(
    (schema.properties ?? {}) as { readonly [name: string]: JsonObject },
  ).flatMap(([name, part]): FreeText[] => {
    const given = config[name];
    const steps = [...path, name];
    if (isJsonObject(given)) return freeTexts(part, given, steps);
    if (
      ![part.type].flat().includes("string") ||
      part.enum !== undefined ||
      part.const !== undefined
    )
      return [];
    const examples = Array.isArray(part.examples) ? part.examples : [];
    const value = [given, part.default, examples[0], ""].find(
      (one) => typeof one === "string",
    ) as string;
    return [{ path: steps, schema: part, value }];
  });
  return [...own, ...alternatives.flatMap((one) => freeTexts(one, config, path))];
}

function declaredField({ manifest }: Lab): string | undefined {
  const { egress } = manifest ?? {};
  const database = databaseEgress(egress);
  if (database) return database.host;
  return egress?.kind === "http" && typeof egress.baseUrl === "object"
    ? egress.baseUrl.field
    : undefined;
}

export function withSetting(
  config: JsonObject,
  [step = "", ...rest]: readonly string[],
  value: JsonValue,
): JsonObject {
  return {
    ...config,
    [step]:
      rest.length === 0 ? value : withSetting((config[step] ?? {}) as JsonObject, rest, value),
  };
}

import type { BodyOptions, Context, HttpClient, Log } from "../contract/context.ts";
import type { Egress, ErrorRule } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import type { Source } from "../contract/source.ts";
import { isSecret } from "../contract/spec.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import type { HttpCall } from "../wire/http-call.ts";
import { createSender } from "../wire/http-sender.ts";
import type { VerbRequest } from "../wire/verb-request.ts";
import type { Calls } from "./calls.ts";
import { callerPlaces, withPlace } from "./failure.ts";

/** Makes the context that a connector receives; everything in it goes through the host. */
export function createContext(
  source: Source,
  { config, namesPlaces = false }: Pick<VerbRequest, "config" | "namesPlaces">,
  calls: Calls,
  signal: AbortSignal,
): Context<never, Egress> {
  const base = {
    config: deepFreeze(trapSecrets(config, source.spec as unknown as JsonObject)),
    log: createLog(calls),
    clock: { now: calls.now, sleep: calls.sleep },
    signal,
  };
  const context =
    source.egress.kind === "http" && !source.egress.isImage
      ? { ...base, http: createHttpClient(calls, source.egress.errors ?? [], namesPlaces) }
      : { ...base, connect: calls.connect };
  return Object.freeze(context) as unknown as Context<never, Egress>;
}

/**
 * A secret is not there; `undefined` would hide the mistake of asking for it until a provider
 * refuses the request.
 */
function trapSecrets(config: JsonObject, schema: JsonObject): JsonObject {
  for (const [name, part] of Object.entries(
    (schema.properties ?? {}) as { [name: string]: JsonObject },
  )) {
    const value = config[name];
    if (value === undefined && isSecret(part)) {
      const get = () => {
        throw new ConnectorError("CONNECTOR_FORBIDDEN", { resource: `the secret setting ${name}` });
      };
      Object.defineProperty(config, name, { get, enumerable: false });
    } else if (isJsonObject(value)) trapSecrets(value, part);
  }
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf])
    for (const one of Array.isArray(list) ? list : []) trapSecrets(config, one as JsonObject);
  return config;
}

function createLog(calls: Calls): Log {
  return {
    debug: (message, fields = {}) => calls.log("debug", String(message), fields),
    info: (message, fields = {}) => calls.log("info", String(message), fields),
    warn: (message, fields = {}) => calls.log("warn", String(message), fields),
  };
}

function createHttpClient(
  calls: Calls,
  rules: readonly ErrorRule[],
  namesPlaces: boolean,
): HttpClient {
  const send = createSender(calls.request, rules);
  // Waits itself: only then does a stack say who waits for it.
  const sendFor = async (method: "GET" | "POST", path: HttpCall["path"], options: BodyOptions) => {
    try {
      return await send(
        method,
        path,
        namesPlaces ? { ...options, place: callerPlaces() } : options,
      );
    } catch (error) {
      throw withPlace(error);
    }
  };
  return {
    get: (path, options = {}) => sendFor("GET", path, options),
    post: (path, options = {}) => sendFor("POST", path, options),
  };
}

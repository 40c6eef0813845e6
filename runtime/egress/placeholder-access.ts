/** The requests that a connector with placeholders may send, and the answers that it gets. */
import type { HttpEgress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { NetworkSettings } from "../contract/network.ts";
import { parseLocalUrl } from "../spec/local-url.ts";
import { toPointer, valueAt } from "../wire/json-pointer.ts";
import type { BrokerOptions } from "./broker.ts";
import { createTokenCatcher } from "./minted-tokens.ts";
import type { AnswerFilter } from "./outcome.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";
import { fillDeclared, portOf } from "./request-url.ts";
import { decompress, defaultMaxResponseBytes, tooLarge } from "./response.ts";
import { isZip, unzip } from "./unzip.ts";

/**
 * The origins that a connector with placeholders may name, and where each of them leads: a provider
 * on this machine may have a stand-in. Undefined for other connectors.
 * @throws CONNECTOR_INVALID when they have more than one port
 */
export function declaredOrigins(
  { placeholders, baseUrl }: HttpEgress,
  base: URL,
  config: BrokerOptions["config"],
  spec: BrokerOptions["spec"],
  settings: NetworkSettings,
): ReadonlyMap<string, string> | undefined {
  if (!placeholders) return undefined;
  const { urls = [], minted = [] } = placeholders;
  const local = typeof baseUrl === "string" ? parseLocalUrl(baseUrl) : undefined;
  const origins = new Map([[(local ?? base).origin, base.origin]]);
  for (const template of [...urls, ...minted.map(({ url }) => url)]) {
    if (isLeftOut(template, config)) continue;
    const url = fillDeclared(template, config, spec, settings);
    if (portOf(url) !== portOf(base))
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "egress.placeholders",
        problem: "has URLs with another port than the base URL",
      });
    origins.set(url.origin, url.origin);
  }
  return origins;
}

/**
 * A file that was packed by gzip as what is in it, so that secrets are found there too. Images get
 * the bytes that they have asked for.
 * @throws RESPONSE_TOO_LARGE, RESPONSE_INVALID, CONNECTION_FAILED as {@link decompress}
 */
const unpack = async (bytes: Buffer, maxBytes: number): Promise<Buffer> =>
  bytes[0] === 0x1f && bytes[1] === 0x8b
    ? await decompress(bytes, { "content-encoding": "gzip" }, maxBytes)
    : bytes;

/** True where a setting of the URL is empty: the connector reaches another one of its URLs. */
const isLeftOut = (template: string, config: JsonObject) =>
  [...template.matchAll(/\{([^{}]+)\}/g)].some(([, field = ""]) => {
    const value = valueAt(config, toPointer(...field.split(".")));
    return value === undefined || value === null || value === "";
  });

/** A redirect takes what was sent along to its own host only. */
export const isSameOrigin = (target: URL, from: URL) =>
  target.origin === from.origin && target.username === "" && target.password === "";

/** The URLs that mint tokens, as they are with these settings. */
export const mintingPlaces = (
  declared: HttpEgress["placeholders"],
  config: BrokerOptions["config"],
  spec: BrokerOptions["spec"],
  settings: NetworkSettings,
) =>
  (declared?.minted ?? [])
    .filter(({ url }) => !isLeftOut(url, config))
    .map((place) => ({ ...place, url: fillDeclared(place.url, config, spec, settings) }));

/** Catches minted tokens, and puts placeholders in the place of secrets. */
export function createAnswerFilter(
  { placeholders: declared, isImage, maxResponseBytes = defaultMaxResponseBytes }: HttpEgress,
  placeholders: PlaceholderRegistry,
  config: BrokerOptions["config"],
  spec: BrokerOptions["spec"],
  settings: NetworkSettings,
): AnswerFilter {
  const minted = mintingPlaces(declared, config, spec, settings);
  const catchTokens = createTokenCatcher(minted, placeholders);
  return {
    async body(url, bytes) {
      if (declared?.archives && isZip(bytes)) {
        const files = await unzip(bytes, maxResponseBytes);
        const texts: string[] = [];
        let left = maxResponseBytes;
        for (const file of files) {
          const plain = await unpack(file, left);
          left -= plain.length;
          if (left < 0) throw tooLarge(maxResponseBytes);
          texts.push((await placeholders.hideBytes(plain)).toString("utf8"));
        }
        return Buffer.from(JSON.stringify(texts));
      }
      const plain = isImage ? bytes : await unpack(bytes, maxResponseBytes);
      catchTokens(url, plain);
      await placeholders.prepare();
      return await placeholders.hideBytes(plain);
    },
    text: placeholders.hide,
  };
}

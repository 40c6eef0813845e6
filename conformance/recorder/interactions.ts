import type { SeenExchange } from "svc-connectors/host";
import type { Interaction, RecordedResponse } from "../contract/recording.ts";
import type { HeaderRules } from "./headers.ts";
import type { Redactor } from "./redactor.ts";

/**
 * An exchange as a recording holds it. Call it for every exchange before its results count: see
 * createRedactor.
 */
export function toInteraction(
  exchange: SeenExchange,
  redactor: Redactor,
  rules: HeaderRules,
): Interaction {
  const { method, url, requestHeaders, requestBody, status, responseHeaders, responseBody } =
    exchange;
  const headers = matchedHeaders(requestHeaders, redactor, rules);
  return {
    request: {
      method,
      url: redactor.redactText(url),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(requestBody && requestBody.length > 0
        ? { body: redactor.redactBody(requestBody.toString("utf8")) }
        : {}),
    },
    response: {
      status,
      headers: keptHeaders(responseHeaders, status, redactor, rules),
      ...toBody(responseBody, redactor),
    },
  };
}

/** A field that holds a secret is the host's work, not the connector's: it is not matched. */
function matchedHeaders(
  headers: SeenExchange["requestHeaders"],
  redactor: Redactor,
  rules: HeaderRules,
) {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    const redacted = redactor.redactText(value, [lower]);
    return rules.isMatched(lower) && redacted === value ? [[lower, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

function keptHeaders(
  headers: SeenExchange["responseHeaders"],
  status: number,
  redactor: Redactor,
  rules: HeaderRules,
) {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    // Those that are dropped are learned from: a cookie may stand in a body as well.
    const values = (typeof value === "string" ? [value] : value).map((one) =>
      lower === "set-cookie" ? cookie(one, redactor) : redactor.redactText(one, [lower]),
    );
    return rules.isKept(lower, status) ? [[lower, values.join(", ")] as const] : [];
  });
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Only the value of a cookie is secret, not its attributes. */
const cookie = (line: string, redactor: Redactor) =>
  redactor.redactText(/^[^=;]*=\s*"?([^";]*)/.exec(line)?.[1]?.trim() ?? "", ["set-cookie"]);

function toBody(bytes: Buffer, redactor: Redactor): Pick<RecordedResponse, "body" | "body_base64"> {
  if (bytes.length === 0) return {};
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes)
    ? { body: redactor.redactBody(text) }
    : { body_base64: bytes.toString("base64") };
}

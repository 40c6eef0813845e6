/** The answers of an S3-compatible store, read from the few elements that count. */
import { ConnectorError, type ErrorCode } from "../contract/errors.ts";
import type { ResponseHeaders } from "./rate-limit-headers.ts";
import { parseRetryAfter } from "./retry.ts";
import { statusError } from "./status-errors.ts";

/** The text of each element of that name. */
export const elements = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    text.replaceAll(/&(amp|lt|gt|quot|apos|#\d{1,7});/g, (_, word: string) => decoded(word)),
  );

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};
const decoded = (word: string) =>
  entities[word] ?? String.fromCodePoint(Math.min(Number(word.slice(1)), 0x10ffff));

/** Names of settings, for errors that say which one is wrong. */
export interface S3Fields {
  readonly bucket: string;
  readonly region: string;
}

/** The store's own words for what is wrong, where the status alone does not say it. */
const codes: Readonly<Record<string, ErrorCode>> = {
  InvalidAccessKeyId: "CREDENTIALS_REJECTED",
  SignatureDoesNotMatch: "CREDENTIALS_REJECTED",
  ExpiredToken: "CREDENTIALS_REJECTED",
  InvalidToken: "CREDENTIALS_REJECTED",
  AccessDenied: "PERMISSION_DENIED",
  SlowDown: "RATE_LIMITED",
};

/** Of an answer that is not 2xx. Nothing of it is passed on. */
export function s3Error(
  {
    status,
    headers,
    xml,
  }: {
    readonly status: number;
    readonly headers: ResponseHeaders;
    readonly xml: string;
  },
  fields: S3Fields,
  nowMs: number,
): ConnectorError {
  const [said = ""] = elements(xml, "Code");
  if (said === "NoSuchBucket")
    return new ConnectorError("CONFIG_INVALID", {
      path: fields.bucket,
      problem: "names a bucket that the store does not have",
    });
  const isElsewhere = status === 301 || status === 307 || said === "AuthorizationHeaderMalformed";
  if (isElsewhere || said === "IllegalLocationConstraintException")
    return new ConnectorError("CONFIG_INVALID", {
      path: fields.region,
      problem: "is not the region of the bucket",
    });
  if (said === "NotImplemented" || status === 501)
    return new ConnectorError("OUTPUT_FAILED", { reason: "it takes no conditional writes" });
  return statusError(status, codes[said], parseRetryAfter(headers["retry-after"], nowMs));
}

/**
 * Signs requests to an S3-compatible store (AWS Signature Version 4). No library does: aws4fetch
 * makes requests of `fetch` and leaves the bodies for S3 unsigned unless it is told their hash;
 * these leave by the guarded transport, bodies signed, and Node has the hashes.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html (read 2026-11)
 */
import { createHash, createHmac } from "node:crypto";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Its path and query are encoded as {@link encodePart} does it. */
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** The headers of the request, its signature among them. */
export function signS3(
  { method, url, headers, body = Buffer.alloc(0) }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const all: Record<string, string> = {
    ...headers,
    "x-amz-content-sha256": hexOf(body),
    "x-amz-date": time,
  };
  const signed = Object.entries({ ...all, host: url.host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const query = [...url.search.slice(1).split("&")].filter((part) => part !== "").sort();
  const canonical = [
    method,
    url.pathname,
    query.map((part) => (part.includes("=") ? part : `${part}=`)).join("&"),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    all["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, hexOf(Buffer.from(canonical))].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<Buffer>(
    (before, part) => createHmac("sha256", before).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
  };
}

const hexOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const byName = ([one]: [string, string], [other]: [string, string]) => (one < other ? -1 : 1);

/** A part of a path, or a name or value of a query, as RFC 3986 has it. */
export const encodePart = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

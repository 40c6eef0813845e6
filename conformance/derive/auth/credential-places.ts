/**
 * Where the credentials of a run went: in headers, URLs and bodies, as they stand and in the
 * encodings of HTTP.
 */
import { isSecretName } from "svc-connectors/host";
import type { Canary } from "../../contract/lab.ts";
import type { ProviderRequest } from "../../contract/network.ts";

export interface FoundCredential {
  readonly credential: Canary;
  /** "header authorization", "the URL", "the body". */
  readonly place: string;
}

/** Every place of a request that holds a credential. */
export function findCredentials(
  { headers, url, body }: ProviderRequest,
  credentials: readonly Canary[],
): FoundCredential[] {
  const places: readonly (readonly [place: string, text: string])[] = [
    ...Object.entries(headers).map(([name, value]) => [`header ${name}`, value] as const),
    ["the URL", url.href],
    ["the body", body],
  ];
  return places.flatMap(([place, text]) => {
    const readings = readingsOf(text);
    return credentials.flatMap((credential) =>
      readings.some((reading) => reading.includes(credential.value)) ? [{ credential, place }] : [],
    );
  });
}

/**
 * Headers that carry a credential by their name, whatever is in them: a signature holds no secret
 * as it stands.
 */
export const credentialHeaders = ({ headers }: ProviderRequest): readonly string[] =>
  Object.keys(headers).filter((name) => isSecretName(name, "suspicion"));

const encoded = /[A-Za-z0-9+/_-]{16,}={0,2}/g;

/** The text, percent-decoded, and what in it is base64. */
function readingsOf(text: string): readonly string[] {
  const inner = [...text.matchAll(encoded)].map(([found]) =>
    Buffer.from(found, "base64").toString("latin1"),
  );
  return [text, percentDecoded(text), ...inner];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Which names people give to secrets. */

/** One of these words makes a name secret wherever it stands: "github_password_2". */
const secretWords = new Set([
  "secret",
  "secrets",
  "password",
  "passwords",
  "passwd",
  "passphrase",
  "pwd",
  "credential",
  "credentials",
  "jwt",
  "bearer",
  "authorization",
]);
/** These only at the end: "api_token", "tokens", but not "token_url". */
const secretEnds = new Set(["token", "tokens", "pat", "cookie", "cookies"]);
/** "api_key", "privateKeyPem": what makes a key a secret one. */
const secretKey =
  /(?:^|_)(?:api|app|application|access|account|auth|private|secret|signing|encryption|master|shared|subscription|service|license|consumer_secret|hmac|webhook)_?keys?(?:_(?:pem|json|base64|value))?$/;
const secretForm =
  /(?:^|_)(?:connection_string|dsn|service_account(?:_(?:json|info|key|file))?|apikey|accesskey|secretkey|privatekey)$/;
/**
 * What a name ends with that speaks about a secret and is none: "token_url", "password_policy",
 * "secret_name".
 */
const about = new Set([
  "url",
  "uri",
  "endpoint",
  "type",
  "id",
  "ids",
  "name",
  "names",
  "expires",
  "expiry",
  "at",
  "in",
  "seconds",
  "minutes",
  "days",
  "field",
  "header",
  "prefix",
  "path",
  "method",
  "style",
  "scope",
  "scopes",
  "length",
  "format",
  "limit",
  "count",
  "mode",
  "version",
  "region",
  "policy",
  "location",
  "enabled",
  "required",
  "algorithm",
  "title",
  "grant",
  "flow",
]);

/** "apiKey", "API-Token" → "api_key", "api_token". */
const toWords = (name: string) =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");

/**
 * "api_token", "clientSecret", "private_key", "X-Api-Key"; not "token_url", "public_key",
 * "client_id".
 */
export function isSecretName(name: string): boolean {
  const words = toWords(name).filter((word) => !/^\d+$/.test(word));
  const last = words.at(-1) ?? "";
  if (about.has(last)) return false;
  const joined = words.join("_");
  return (
    words.some((word) => secretWords.has(word)) ||
    secretEnds.has(last) ||
    secretKey.test(joined) ||
    secretForm.test(joined)
  );
}

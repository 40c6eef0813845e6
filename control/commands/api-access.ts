/** Where a command finds a Control API that runs elsewhere, and with which token it asks. */
import { text } from "node:stream/consumers";
import {
  type CommandBuilder,
  printable,
  readText,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import { basePath } from "../door/base-path.ts";

/** Adds the flags of every command that asks a server over the network. */
export const addApiOptions = (command: Parameters<CommandBuilder>[0]) =>
  command
    .option("--server <URL>", "address of the Control API; default SVC_API_BASE_URL")
    .option(
      "--token-file <FILE>",
      "file with an access token, - for standard input; default SVC_TOKEN_FILE",
    );

export interface ApiValues {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The address, and the token that goes there. @throws UsageError */
export async function apiAccess(
  { cwd }: Pick<Terminal, "cwd">,
  { server = process.env.SVC_API_BASE_URL, tokenFile = process.env.SVC_TOKEN_FILE }: ApiValues,
): Promise<{ readonly baseUrl: URL; readonly token: string }> {
  const baseUrl = toBaseUrl(server, "--server, or SVC_API_BASE_URL,");
  if (tokenFile === undefined)
    throw new UsageError(
      "name the file with an access token: --token-file FILE, or - for standard input (svc token create makes one)",
    );
  const written =
    tokenFile === "-" ? await text(process.stdin) : await readText(tokenFile, "secret", cwd);
  const token = written.trim();
  if (!/^svc_at_[0-9A-Za-z]+$/.test(token))
    throw new UsageError(
      `${tokenFile === "-" ? "standard input" : `the file "${printable(tokenFile)}"`} must hold an access token and nothing else: svc token create makes one`,
    );
  return { baseUrl, token };
}

/**
 * @param name how messages call the setting
 * @throws UsageError when it is not there, or would carry the token over a network in the clear
 */
export function toBaseUrl(address: string | undefined, name: string): URL {
  if (address === undefined)
    throw new UsageError(
      `${name} must be the address of the Control API: http://127.0.0.1:8080${basePath}`,
    );
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain =
    url && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !url.pathname.replace(/\/$/, "").endsWith(basePath))
    throw new UsageError(`${name} must be a URL that ends with ${basePath}`);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere))
    throw new UsageError(`${name} must be https, unless the Control API is on this machine`);
  url.pathname = url.pathname.replace(/\/$/, "");
  return url;
}

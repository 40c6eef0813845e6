/**
 * `svc mcp`: the tools of the agent interface on standard input and output, for a Control API that
 * runs elsewhere.
 */
import { access, constants } from "node:fs/promises";
import { type CommandBuilder, printable, type Terminal, UsageError } from "svc-connectors/host";
import { basePath } from "../door/base-path.ts";
import { serveMcpStdio } from "../mcp/stdio.ts";
import { operations } from "../operations/index.ts";

export const buildMcp: CommandBuilder = (command, terminal) => {
  command
    .addHelpText(
      "after",
      `
SVC_API_BASE_URL is the address of the Control API: http://127.0.0.1:8080${basePath}
SVC_TOKEN_FILE names the file with an access token: svc token create --client mcp`,
    )
    .action(() => serveMcp(terminal));
};

/** @throws UsageError */
async function serveMcp(terminal: Terminal): Promise<void> {
  const { SVC_API_BASE_URL, SVC_TOKEN_FILE } = process.env;
  const baseUrl = toBaseUrl(SVC_API_BASE_URL);
  if (SVC_TOKEN_FILE === undefined)
    throw new UsageError(
      "SVC_TOKEN_FILE must name the file with an access token: svc token create --client mcp",
    );
  await access(SVC_TOKEN_FILE, constants.R_OK).catch(() => {
    throw new UsageError(`the token file ${printable(SVC_TOKEN_FILE)} cannot be read`);
  });
  await serveMcpStdio({
    operations,
    baseUrl,
    tokenFile: SVC_TOKEN_FILE,
    input: process.stdin,
    output: terminal.stdout,
    signal: terminal.signal,
  });
}

/** @throws UsageError when it is not there, or would carry the token over a network in the clear */
function toBaseUrl(text: string | undefined): URL {
  if (text === undefined)
    throw new UsageError(
      `SVC_API_BASE_URL must be the address of the Control API: http://127.0.0.1:8080${basePath}`,
    );
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !url.pathname.replace(/\/$/, "").endsWith(basePath))
    throw new UsageError(`SVC_API_BASE_URL must be a URL that ends with ${basePath}`);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere))
    throw new UsageError(
      "SVC_API_BASE_URL must be https, unless the Control API is on this machine",
    );
  url.pathname = url.pathname.replace(/\/$/, "");
  return url;
}

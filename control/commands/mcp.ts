/**
 * `svc mcp`: the tools of the agent interface on standard input and output, for a Control API that
 * runs elsewhere.
 */
import { access, constants } from "node:fs/promises";
import { type CommandBuilder, printable, type Terminal, UsageError } from "svc-connectors/host";
import { basePath } from "../door/base-path.ts";
import { serveMcpStdio } from "../mcp/stdio.ts";
import { operations } from "../operations/index.ts";
import { toBaseUrl } from "./api-access.ts";

export const buildMcp: CommandBuilder = (command, terminal) => {
  command
    .addHelpText(
      "after",
      `
Variables:
  SVC_API_BASE_URL  the address of the Control API: http://127.0.0.1:8080${basePath}
  SVC_TOKEN_FILE    the file with an access token, of svc token create --client mcp

Example:
    svc token create --client mcp > token.txt
    SVC_API_BASE_URL=http://127.0.0.1:8080${basePath} SVC_TOKEN_FILE=token.txt svc mcp`,
    )
    .action(() => serveMcp(terminal));
};

/** @throws UsageError */
async function serveMcp(terminal: Terminal): Promise<void> {
  const { SVC_API_BASE_URL, SVC_TOKEN_FILE } = process.env;
  const baseUrl = toBaseUrl(SVC_API_BASE_URL, "SVC_API_BASE_URL");
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

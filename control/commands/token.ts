/** `svc token create|list|revoke`: access tokens, from the machine on which the instance lives. */
import {
  answer,
  type CommandBuilder,
  formatTable,
  jsonFlag,
  oneOf,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import type { OperatorData } from "../operator/operator.ts";
import { clients, roles } from "../store/tables.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

export const buildToken: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command.command("create"))
    .description("make a token; it alone goes to stdout, so that a program can read it")
    .option(
      "--role <ROLE>",
      `the most it may do: ${roles.join(", ")}; default editor`,
      oneOf("role", roles),
    )
    .option("--workspace <ID>", "only this workspace, by id or slug; default all of its user")
    .option(
      "--client <KIND>",
      "who will use it: api, cli (default) or mcp, whose changes are proposals",
      oneOf("client", clients),
    )
    .option("--user <EMAIL>", "whose it is; default the first administrator")
    .option("--name <TEXT>", "what it is for", nameOf)
    .option(
      "--days <N>",
      "lifetime; default 90 for api, half a day for cli and mcp",
      wholeNumber("days", 1, 3_650),
    )
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc token create --role viewer --client mcp")
    .action(
      failingInOneLine(async ({ role = "editor", client = "cli", json, ...options }) => {
        const { workspace, user, name, days } = options;
        await using operator = await openOperator(terminal, options);
        const made = await operator.run("session.create", {
          body: { role, client, workspace, user, name, days },
        });
        await answer(terminal, json, made, () => made.token);
        if (json) return;
        await terminal.err.line(
          `${made.session_id} of ${made.user}, role ${role}, until ${made.expires_at}; the token is not shown again`,
        );
      }),
    );
  addInstanceOptions(command.command("list"))
    .description("show the tokens; never the tokens' text")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { sessions } = await operator.run("session.list", {});
        await answer(terminal, json, { sessions }, () => tableOf(sessions));
      }),
    );
  addInstanceOptions(command.command("revoke"))
    .description("end a token")
    .argument("<session>", "the session to revoke; svc token list shows them")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async (sessionId, { json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { session_id, changed } = await operator.run("session.revoke", {
          params: { session_id: sessionId },
        });
        await answer(terminal, json, { session_id, changed }, () =>
          changed ? `${session_id} is revoked` : `${session_id} was revoked before`,
        );
      }),
    );
};

function tableOf(sessions: OperatorData<"session.list">["sessions"]): string {
  const headings = [
    "session",
    "user",
    "role",
    "workspace",
    "client",
    "status",
    "ends (UTC)",
    "name",
  ];
  const rows = sessions.map((one) => [
    one.session_id,
    one.user,
    one.role,
    one.workspace,
    one.client,
    one.status,
    one.expires_at.slice(0, 16),
    one.name,
  ]);
  return formatTable(headings, rows);
}

function nameOf(text: string): string {
  if (/^\P{Cc}{1,200}$/u.test(text)) return text;
  throw new UsageError("--name must be one line of at most 200 characters");
}

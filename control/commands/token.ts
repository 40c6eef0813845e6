/** `svc token create|list|revoke`: access tokens, from the machine on which the instance lives. */
import {
  exitCode,
  type Flags,
  formatTable,
  oneOf,
  parseOptions,
  printable,
  suggestion,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { clients, roles } from "../store/tables.ts";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";

export const tokenFlags = {
  role: { value: "ROLE", help: `create: the most it may do: ${roles.join(", ")}; default editor` },
  workspace: {
    value: "ID",
    help: "create: only this workspace, by id or slug; default all of its user",
  },
  client: {
    value: "KIND",
    help: "create: who will use it: api, cli (default) or mcp, whose changes are proposals",
  },
  user: { value: "EMAIL", help: "create: whose it is; default the first administrator" },
  name: { value: "TEXT", help: "create: what it is for" },
  days: { value: "N", help: "create: lifetime; default 90 for api, half a day for cli and mcp" },
  ...instanceFlags,
} as const satisfies Flags;

const verbs = ["create", "list", "revoke"] as const;

/** @throws UsageError */
export const tokenCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, tokenFlags);
  const [verb, sessionId, ...rest] = positionals;
  const wanted = verbs.find((one) => one === verb);
  if (!wanted)
    throw new UsageError(`say what to do: ${verbs.join(", ")}${suggestion(verb ?? "", verbs)}`);
  const unexpected = wanted === "revoke" ? rest[0] : sessionId;
  if (unexpected !== undefined)
    throw new UsageError(`unexpected "${printable(unexpected)}" after ${wanted}`);
  if (wanted === "create") return create(values, terminal);
  await using admin = await openAdmin(terminal, values);
  if (wanted === "list") {
    const { sessions } = await admin.run("token.list", {});
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
    await terminal.out.line(formatTable(headings, rows));
    return exitCode.ok;
  }
  if (sessionId === undefined)
    throw new UsageError("name the session to revoke; svc token list shows them");
  const { session_id, changed } = await admin.run("token.revoke", { sessionId });
  await terminal.out.line(
    changed ? `${session_id} is revoked` : `${session_id} was revoked before`,
  );
  return exitCode.ok;
});

type Values = ReturnType<typeof parseOptions<typeof tokenFlags>>["values"];

/**
 * The token alone goes to stdout, so that a program can read it; what belongs to it goes to stderr.
 */
async function create(values: Values, terminal: Terminal): Promise<number> {
  const input = {
    role: oneOf("role", values.role ?? "editor", roles),
    client: oneOf("client", values.client ?? "cli", clients),
    ...(values.workspace === undefined ? {} : { workspace: values.workspace }),
    ...(values.user === undefined ? {} : { user: values.user }),
    ...(values.name === undefined ? {} : { name: nameOf(values.name) }),
    ...(values.days === undefined ? {} : { days: wholeNumber("days", values.days, 1, 3_650) }),
  };
  await using admin = await openAdmin(terminal, values);
  const { token, session_id, user, expires_at } = await admin.run("token.create", input);
  await terminal.out.line(token);
  await terminal.err.line(
    `${session_id} of ${user}, role ${input.role}, until ${expires_at}; the token is not shown again`,
  );
  return exitCode.ok;
}

function nameOf(text: string): string {
  if (/^\P{Cc}{1,200}$/u.test(text)) return text;
  throw new UsageError("--name must be one line of at most 200 characters");
}

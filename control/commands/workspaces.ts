/**
 * `svc workspaces create <name>`: a further workspace. Its first administrator is the instance's.
 */
import { exitCode, type Flags, parseOptions, printable, UsageError } from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";

export const workspacesFlags = { ...instanceFlags } as const satisfies Flags;

/** @throws UsageError */
export const workspacesCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, workspacesFlags);
  const [verb, name, unexpected] = positionals;
  if (verb !== "create") throw new UsageError("say what to do: create");
  if (name === undefined || !/^\P{Cc}{1,200}$/u.test(name) || name.trim() === "")
    throw new UsageError("name the workspace, in one line of at most 200 characters");
  if (unexpected !== undefined)
    throw new UsageError(`unexpected "${printable(unexpected)}": quote a name of several words`);
  await using admin = await openAdmin(terminal, values);
  const made = await admin.run("workspace.create", { name });
  await terminal.out.line(`${made.workspace_id}  ${made.slug}, administrator ${made.admin}`);
  return exitCode.ok;
});

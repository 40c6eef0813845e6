/**
 * `svc workspaces create <name>`: a further workspace. Its first administrator is the instance's.
 */
import { answer, type CommandBuilder, jsonFlag, printable, UsageError } from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

const nameArgument = "the workspace, in one line of at most 200 characters";

export const buildWorkspaces: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command.command("create"))
    .description("make a further workspace")
    .argument("<name>", nameArgument)
    .option(...jsonFlag)
    .allowExcessArguments()
    .action(
      failingInOneLine(async (name, { json, ...options }, { args: [, unexpected] }) => {
        if (!/^\P{Cc}{1,200}$/u.test(name) || name.trim() === "")
          throw new UsageError(`name ${nameArgument}`);
        if (unexpected !== undefined)
          throw new UsageError(
            `unexpected "${printable(unexpected)}": quote a name of several words`,
          );
        await using operator = await openOperator(terminal, options);
        const made = await operator.run("workspace.create", { body: { name } });
        await answer(
          terminal,
          json,
          made,
          () => `${made.workspace_id}  ${made.slug}, administrator ${made.admin}`,
        );
      }),
    );
};

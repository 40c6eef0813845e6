/** `svc export`: a workspace as a file for `svc apply`, on standard output. */
import { type CommandBuilder, CommandFailed, type Terminal } from "svc-connectors/host";
import { ApiError, createApi } from "../workspace-file/api.ts";
import { exportWorkspace } from "../workspace-file/export.ts";
import { takeInventory } from "../workspace-file/inventory.ts";
import { type ApiValues, addApiOptions, apiAccess } from "./api-access.ts";
import { failingInOneLine } from "./failures.ts";

export const buildExport: CommandBuilder = (command, terminal) => {
  addApiOptions(command)
    .option("--workspace <ID>", "the workspace, by id or slug, when the token belongs to several")
    .addHelpText(
      "after",
      "\nExample: svc export --server https://svc.example.com/control/v1 --token-file token.txt > workspace.yaml",
    )
    .action(failingInOneLine((options) => write(options, terminal)));
};

async function write(
  { workspace, ...access }: ApiValues & { readonly workspace?: string | undefined },
  terminal: Terminal,
): Promise<void> {
  const { clock, signal, out, err } = terminal;
  const api = createApi({ ...(await apiAccess(terminal, access)), clock, signal });
  try {
    const inventory = await takeInventory(api, workspace);
    await out.write(await exportWorkspace(inventory));
    for (const section of inventory.hidden)
      await err.line(`${section} are left out: the token may not see them`);
  } catch (error) {
    if (!(error instanceof ApiError) || signal.aborted) throw error;
    throw new CommandFailed(error.message);
  }
}

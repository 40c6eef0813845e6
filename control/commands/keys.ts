/** `svc keys rotate|list|prune`: the keys that everything secret is sealed with. */
import { answer, type CommandBuilder, formatTable, jsonFlag } from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

export const buildKeys: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command.command("rotate"))
    .description("make a new key, and seal every secret under it")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const made = await operator.run("key.rotate", {});
        await answer(
          terminal,
          json,
          made,
          () =>
            `${made.current} is the key now; ${made.rewrapped} values were sealed under it anew\nThe keys before it are still in the file: back it up, then svc keys prune removes them.`,
        );
      }),
    );
  addInstanceOptions(command.command("list"))
    .description("show the keys, and how many secrets each seals")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { keys } = await operator.run("key.list", {});
        const rows = keys.map((one) => [
          one.key_id,
          one.current ? "current" : one.secrets > 0 ? "needed" : "unused",
          String(one.secrets),
          one.used_since?.slice(0, 16) ?? "never used",
        ]);
        const headings = ["key", "state", "secrets", "since (UTC)"];
        await answer(terminal, json, { keys }, () => formatTable(headings, rows));
      }),
    );
  addInstanceOptions(command.command("prune"))
    .description("remove the keys that seal nothing any more")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { removed, kept } = await operator.run("key.prune", {});
        const lines = [
          ...removed.map((id) => `${id} is removed`),
          ...kept.map(
            (id) => `${id} stays: secrets are sealed under it; svc keys rotate moves them`,
          ),
        ];
        await answer(terminal, json, { removed, kept }, () =>
          lines.length === 0 ? "there is only the current key" : lines.join("\n"),
        );
      }),
    );
};

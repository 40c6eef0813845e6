/** `svc keys rotate|list|prune`: the keys that everything secret is sealed with. */
import { type CommandBuilder, formatTable } from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

export const buildKeys: CommandBuilder = (command, terminal) => {
  const { out } = terminal;
  addInstanceOptions(command.command("rotate"))
    .description("make a new key, and seal every secret under it")
    .action(
      failingInOneLine(terminal, async (options) => {
        await using operator = await openOperator(terminal, options);
        const { current, rewrapped } = await operator.run("key.rotate", {});
        await out.line(`${current} is the key now; ${rewrapped} values were sealed under it anew`);
        await out.line(
          "The keys before it are still in the file: back it up, then svc keys prune removes them.",
        );
      }),
    );
  addInstanceOptions(command.command("list"))
    .description("show the keys, and how many secrets each seals")
    .action(
      failingInOneLine(terminal, async (options) => {
        await using operator = await openOperator(terminal, options);
        const { keys } = await operator.run("key.list", {});
        const rows = keys.map((one) => [
          one.key_id,
          one.current ? "current" : one.secrets > 0 ? "needed" : "unused",
          String(one.secrets),
          one.used_since?.slice(0, 16) ?? "never used",
        ]);
        await out.line(formatTable(["key", "state", "secrets", "since (UTC)"], rows));
      }),
    );
  addInstanceOptions(command.command("prune"))
    .description("remove the keys that seal nothing any more")
    .action(
      failingInOneLine(terminal, async (options) => {
        await using operator = await openOperator(terminal, options);
        const { removed, kept } = await operator.run("key.prune", {});
        for (const id of removed) await out.line(`${id} is removed`);
        for (const id of kept)
          await out.line(`${id} stays: secrets are sealed under it; svc keys rotate moves them`);
        if (removed.length + kept.length === 0) await out.line("there is only the current key");
      }),
    );
};

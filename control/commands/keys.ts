/** `svc keys rotate|list|prune`: the keys that everything secret is sealed with. */
import {
  exitCode,
  type Flags,
  formatTable,
  parseOptions,
  printable,
  suggestion,
  UsageError,
} from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";

export const keysFlags = { ...instanceFlags } as const satisfies Flags;

const verbs = ["rotate", "list", "prune"] as const;

/** @throws UsageError */
export const keysCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, keysFlags);
  const [verb, unexpected] = positionals;
  const wanted = verbs.find((one) => one === verb);
  if (!wanted)
    throw new UsageError(`say what to do: ${verbs.join(", ")}${suggestion(verb ?? "", verbs)}`);
  if (unexpected !== undefined)
    throw new UsageError(`unexpected "${printable(unexpected)}" after ${wanted}`);
  const { out } = terminal;
  await using admin = await openAdmin(terminal, values);
  if (wanted === "rotate") {
    const { current, rewrapped } = await admin.run("keys.rotate", {});
    await out.line(`${current} is the key now; ${rewrapped} values were sealed under it anew`);
    await out.line(
      "The keys before it are still in the file: back it up, then svc keys prune removes them.",
    );
  } else if (wanted === "list") {
    const { keys } = await admin.run("keys.list", {});
    const rows = keys.map((one) => [
      one.key_id,
      one.current ? "current" : one.secrets > 0 ? "needed" : "unused",
      String(one.secrets),
      one.used_since?.slice(0, 16) ?? "never used",
    ]);
    await out.line(formatTable(["key", "state", "secrets", "since (UTC)"], rows));
  } else {
    const { removed, kept } = await admin.run("keys.prune", {});
    for (const id of removed) await out.line(`${id} is removed`);
    for (const id of kept)
      await out.line(`${id} stays: secrets are sealed under it; svc keys rotate moves them`);
    if (removed.length + kept.length === 0) await out.line("there is only the current key");
  }
  return exitCode.ok;
});

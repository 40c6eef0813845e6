/**
 * A process beside the kit's own, which opens the same connector and tries rules of it, one after
 * another. It ends with the process that started it.
 */
import type { KitOptions } from "../contract/kit.ts";
import type { RuleReport } from "../contract/report.ts";
import { openSourceKit } from "./source-kit.ts";

/** First message to it, what the kit was opened with; each further one, a rule to be tried. */
export type KitProcessCommand = { readonly options: KitOptions } | { readonly rule: string };

/** Its answer to a rule: the report, or why there is none. */
export type KitProcessAnswer =
  | { readonly report: RuleReport /** Until now. */; readonly runCount: number }
  | { readonly failure: string };

let kit: ReturnType<typeof openSourceKit> | undefined;

process.on("message", (command: KitProcessCommand) => {
  if ("options" in command) {
    kit = openSourceKit(command.options);
    // Whoever asks for a rule gets to know why it cannot be opened.
    kit.catch(() => undefined);
  } else tryRule(command.rule).then((answer) => process.send?.(answer));
});
process.once("disconnect", () => process.exit());

async function tryRule(id: string): Promise<KitProcessAnswer> {
  try {
    if (!kit) throw new Error("it was not told what to open");
    const { tryRule, lab } = await kit;
    return { report: await tryRule(id), runCount: lab.runCount };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

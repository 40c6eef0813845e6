/**
 * `svc audit verify`: whether the audit log is as it was written. Exit code 1, and the first broken
 * entry, when it is not.
 */
import {
  answer,
  type CommandBuilder,
  exitCode,
  jsonFlag,
  printable,
  UsageError,
} from "svc-connectors/host";
import type { AuditFault, AuditPlace } from "../audit/verify.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

export const buildAudit: CommandBuilder = (command, terminal) => {
  addInstanceOptions(command.command("verify"))
    .description("compare the log with the hashes that were kept of it")
    .option("--workspace <ID>", "only this workspace, by id or slug")
    .option(
      "--noted <N:HASH>",
      "an end of its chain that you have noted before: shows what was written anew since",
    )
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        const { workspace, noted } = options;
        if (noted !== undefined && workspace === undefined)
          throw new UsageError("--noted needs --workspace");
        const wanted = { workspace, noted: noted === undefined ? undefined : toPlace(noted) };
        await using operator = await openOperator(terminal, options);
        const { intact, faults } = await operator.run("audit_log.verify", { query: wanted });
        if (faults.length > 0) terminal.exitCode = exitCode.failed;
        if (json) return answer(terminal, json, toDocument(intact, faults), () => "");
        for (const { workspaceId, index, hash } of intact)
          await terminal.out.line(`${workspaceId} is as it was written, up to ${index}:${hash}`);
        for (const fault of faults)
          await terminal.err.line(`svc: the audit log of ${fault.workspaceId} ${describe(fault)}`);
        if (intact.length + faults.length === 0)
          await terminal.out.line("there is nothing in the audit log yet");
      }),
    );
};

/** In the API's words. */
const toDocument = (
  intact: readonly (AuditPlace & { readonly workspaceId: string })[],
  faults: readonly AuditFault[],
) => ({
  intact: intact.map(({ workspaceId, index, hash }) => ({
    workspace_id: workspaceId,
    index,
    hash,
  })),
  faults: faults.map(({ workspaceId, kind, index, entryId }) => ({
    workspace_id: workspaceId,
    kind,
    index,
    entry_id: entryId,
  })),
});

function toPlace(text: string): AuditPlace {
  const [, index, hash] = /^(\d{1,9}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (index === undefined || hash === undefined)
    throw new UsageError(
      "--noted must be the number and the hash that svc audit verify has shown: 12:4f0c…",
    );
  return { index: Number(index), hash };
}

const problems = {
  missing: "lacks its entry",
  changed: "was changed at entry",
  added: "has an entry that the service did not write:",
  pruned: "cannot be compared with what was noted; retention has deleted it: entry",
} as const satisfies Record<AuditFault["kind"], string>;

const describe = ({ kind, index, entryId }: AuditFault) =>
  `${problems[kind]} ${index}${entryId === null ? "" : ` (${printable(entryId)})`}`;

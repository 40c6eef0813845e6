/**
 * `svc audit verify`: whether the audit log is as it was written. Exit code 1, and the first broken
 * entry, when it is not.
 */
import { resolve } from "node:path";
import {
  answer,
  type CommandBuilder,
  exitCode,
  jsonFlag,
  printable,
  UsageError,
} from "svc-connectors/host";
import type { AuditFault, AuditPlace } from "../audit/verify.ts";
import { type ArchiveVerdict, compareArchive } from "./audit-archive.ts";
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
    .option(
      "--archive <FOLDER>",
      "also the files to which retention has taken older entries (audit_archive)",
    )
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, archive: folder, ...options }) => {
        const { workspace, noted } = options;
        if (noted !== undefined && workspace === undefined)
          throw new UsageError("--noted needs --workspace");
        const wanted = { workspace, noted: noted === undefined ? undefined : toPlace(noted) };
        await using operator = await openOperator(terminal, options);
        const { intact, faults } = await operator.run("audit_log.verify", { query: wanted });
        const archive =
          folder === undefined
            ? undefined
            : await compareArchive(
                operator,
                resolve(terminal.cwd, folder),
                [...intact, ...faults],
                workspace === undefined,
              );
        if (faults.length + (archive?.faults.length ?? 0) > 0) terminal.exitCode = exitCode.failed;
        if (json)
          return answer(
            terminal,
            json,
            { ...toDocument(intact, faults), ...(archive && { archive: ofArchive(archive) }) },
            () => "",
          );
        for (const { workspaceId, begin, end } of archive?.intact ?? [])
          await terminal.out.line(
            `${workspaceId} is as it was written in the archive, from ${begin.index + 1} up to ${end.index}:${end.hash}`,
          );
        for (const { workspaceId, kind, index, file } of archive?.faults ?? [])
          await terminal.err.line(
            `svc: the archived audit log of ${printable(workspaceId)} ${archiveProblems[kind]} ${index}${file === null ? "" : ` (${printable(file)})`}`,
          );
        for (const { workspaceId, index, hash } of intact)
          await terminal.out.line(`${workspaceId} is as it was written, up to ${index}:${hash}`);
        for (const fault of faults)
          await terminal.err.line(`svc: the audit log of ${fault.workspaceId} ${describe(fault)}`);
        if (intact.length + faults.length === 0)
          await terminal.out.line("there is nothing in the audit log yet");
      }),
    );
};

/** The verdict in the API's words. */
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

/** The verdict on an archive in the API's words. */
const ofArchive = ({ intact, faults }: ArchiveVerdict) => ({
  intact: intact.map(({ workspaceId, begin, end, fileCount }) => ({
    workspace_id: workspaceId,
    begin,
    end,
    file_count: fileCount,
  })),
  faults: faults.map(({ workspaceId, kind, index, file }) => ({
    workspace_id: workspaceId,
    kind,
    index,
    file,
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

const archiveProblems = {
  missing: "lacks its entry",
  changed: "was changed at entry",
  incomplete: "has a file that is not whole after entry",
  gap: "and the log in the database lack entry",
} as const satisfies Record<ArchiveVerdict["faults"][number]["kind"], string>;

const describe = ({ kind, index, entryId }: AuditFault) =>
  `${problems[kind]} ${index}${entryId === null ? "" : ` (${printable(entryId)})`}`;

/**
 * `svc audit verify`: whether the audit log is as it was written. Exit code 1, and the first broken
 * entry, when it is not.
 */
import {
  exitCode,
  type Flags,
  parseOptions,
  printable,
  suggestion,
  UsageError,
} from "svc-connectors/host";
import type { AuditFault, AuditPlace } from "../audit/verify.ts";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";

export const auditFlags = {
  workspace: { value: "ID", help: "only this workspace, by id or slug" },
  noted: {
    value: "N:HASH",
    help: "an end of its chain that you have noted before: shows what was written anew since",
  },
  ...instanceFlags,
} as const satisfies Flags;

const verbs = ["verify"] as const;

/** @throws UsageError */
export const auditCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, auditFlags);
  const [verb, unexpected] = positionals;
  if (verb !== "verify")
    throw new UsageError(`say what to do: verify${suggestion(verb ?? "", verbs)}`);
  if (unexpected !== undefined)
    throw new UsageError(`unexpected "${printable(unexpected)}" after ${verb}`);
  const { workspace, noted } = values;
  if (noted !== undefined && workspace === undefined)
    throw new UsageError("--noted needs --workspace");
  const wanted = {
    ...(workspace === undefined ? {} : { workspace }),
    ...(noted === undefined ? {} : toPlace(noted)),
  };
  await using admin = await openAdmin(terminal, values);
  const { intact, faults } = await admin.run("audit.verify", wanted);
  for (const { workspaceId, index, hash } of intact)
    await terminal.out.line(`${workspaceId} is as it was written, up to ${index}:${hash}`);
  for (const fault of faults)
    await terminal.err.line(`svc: the audit log of ${fault.workspaceId} ${tell(fault)}`);
  if (intact.length + faults.length === 0)
    await terminal.out.line("there is nothing in the audit log yet");
  return faults.length === 0 ? exitCode.ok : exitCode.failed;
});

function toPlace(text: string): { readonly noted: AuditPlace } {
  const [, index, hash] = /^(\d{1,9}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (index === undefined || hash === undefined)
    throw new UsageError(
      "--noted must be the number and the hash that svc audit verify has shown: 12:4f0c…",
    );
  return { noted: { index: Number(index), hash } };
}

const problems = {
  missing: "lacks its entry",
  changed: "was changed at entry",
  added: "has an entry that the service did not write:",
} as const satisfies Record<AuditFault["kind"], string>;

const tell = ({ kind, index, entryId }: AuditFault) =>
  `${problems[kind]} ${index}${entryId === null ? "" : ` (${printable(entryId)})`}`;

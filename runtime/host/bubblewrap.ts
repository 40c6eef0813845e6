/**
 * The level "bubblewrap": the same worker in Linux namespaces of its own, with no network, no other
 * processes in sight and a file system that holds the readable code and Node, read-only.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { ConnectorError } from "../contract/errors.ts";

const candidates = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
/** Paths that a dynamically linked node binary needs to start. */
const systemFolders = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/**
 * The command that runs `command` inside.
 * @throws SANDBOX_UNAVAILABLE when bubblewrap is missing or may not make namespaces here
 */
export function bubblewrapCommand(
  command: readonly string[],
  readable: readonly string[],
): readonly string[] {
  const bwrap = requireBubblewrap();
  const visible = [
    ...systemFolders.filter((path) => existsSync(path)),
    command[0] ?? "",
    ...readable,
  ];
  return [
    bwrap,
    "--unshare-all",
    "--die-with-parent",
    ...["--uid", "65534", "--gid", "65534"],
    "--new-session",
    "--clearenv",
    ...["--proc", "/proc"],
    ...["--dev", "/dev"],
    ...visible.flatMap((path) => ["--ro-bind", path, path]),
    ...["--chdir", "/"],
    "--",
    ...command,
  ];
}

let verdict: { readonly path: string } | { readonly problem: string } | undefined;

/** The path of its command. @throws SANDBOX_UNAVAILABLE as {@link bubblewrapCommand} */
export function requireBubblewrap(): string {
  verdict ??= probe();
  if ("problem" in verdict)
    throw new ConnectorError("SANDBOX_UNAVAILABLE", {
      level: "bubblewrap",
      problem: verdict.problem,
    });
  return verdict.path;
}

function probe(): NonNullable<typeof verdict> {
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) return { problem: "bubblewrap is not installed" };
  const folders = systemFolders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => ["--ro-bind", folder, folder]);
  const trial = spawnSync(
    path,
    ["--unshare-all", ...folders, "--ro-bind", "/usr", "/usr", "--", "/usr/bin/env", "true"],
    { env: {} },
  );
  return trial.status === 0 ? { path } : { problem: "this system does not allow user namespaces" };
}

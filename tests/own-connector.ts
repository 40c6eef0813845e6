/** A connector as `svc new` makes it, and the imaginary provider that it reads. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createCertificateAuthority } from "../simulators/certificates.ts";
import { answerJson, startProvider } from "../simulators/loopback.ts";
import { svc } from "./served.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

export const notesToken = "canary-of-a-notes-token-0123456789-abcdefghij";

/** Makes the connector `helpdesk` in the folder, beside what its author would install. */
export async function makeOwnConnector(folder: string): Promise<string> {
  const { code, stderr } = await svc({ cwd: folder }, "new", "helpdesk");
  if (code !== 0) throw new Error(stderr);
  const path = join(folder, "helpdesk");
  await mkdir(join(path, "node_modules"));
  await symlink(root, join(path, "node_modules/svc-connectors"));
  return path;
}

/** Builds and packs it, and installs the package below `folder`. Gives the package's name. */
export async function installPacked(connector: string, folder: string): Promise<string> {
  const run = promisify(execFile);
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: connector });
  const npm = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", npm, { cwd: connector });
  const [packed] = JSON.parse(stdout) as { name: string; filename: string }[];
  const { name = "", filename = "" } = packed ?? {};
  const installed = join(folder, "node_modules", name);
  await mkdir(installed, { recursive: true });
  await run("tar", ["xzf", join(folder, filename), "--strip-components=1", "-C", installed]);
  return name;
}

/** Writes a copy of a connector with another text in its module. */
export async function changeModule(connector: string, from: string, to: string): Promise<void> {
  const path = join(connector, "index.ts");
  const text = await readFile(path, "utf8");
  if (!text.includes(from)) throw new Error(`the module has no ${from}`);
  await writeFile(path, text.replaceAll(from, to));
}

export const copyConnector = (from: string, to: string) =>
  cp(from, to, { recursive: true, verbatimSymlinks: true });

/** Accepts one token. */
export async function startNotes() {
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue(["api.notes.example.com"]);
  const note = (id: number) => ({
    id: `n${id}`,
    number: id,
    weight: id / 2,
    title: `Note ${id}`,
    body: null,
    updated_at: `2026-05-0${id}T08:00:00Z`,
    folder_id: "f1",
  });
  const answers: Record<string, unknown> = {
    "/v1/me": { id: "u1" },
    "/v1/notes": { data: [1, 2, 3].map(note), next: null },
    "/v1/folders": { folders: [{ id: "f1", name: "First" }] },
  };
  const provider = await startProvider(
    ({ url, headers }, response) => {
      const isKnown = headers.authorization === `Bearer ${notesToken}`;
      const answer = answers[url.split("?")[0] ?? ""];
      if (!isKnown) answerJson(response, 401, { error: "unauthorized" });
      else answerJson(response, answer ? 200 : 404, answer ?? {});
    },
    { certificate },
  );
  return { ...provider, seams: { ...provider.seams, ca: authority.caPem } };
}

/** A connector as `svc new` makes it, and the imaginary provider that it reads. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { authorizationServerName, resourceServerName } from "../simulators/authorization/server.ts";
import { sharedAuthority } from "../simulators/certificates.ts";
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

/**
 * Writes another connector in its place: one whose accounts are connected in a browser, at the
 * authorization server of the simulators.
 */
export const writeAccountsModule = (connector: string) =>
  writeFile(join(connector, "index.ts"), accountsModule);

const accountsModule = `
import { defineSource, http, oauth2, records, secret, Type } from "svc-connectors";

const text = (title: string) => Type.String({ title, description: title, minLength: 1 });

export default defineSource({
  id: "conn_helpdesk",
  version: "0.1.0",
  title: "Helpdesk",
  spec: Type.Object({
    client_id: text("Client ID"),
    client_secret: secret(text("Client secret")),
    refresh_token: secret(text("Refresh token")),
  }),
  egress: http({
    baseUrl: "https://${resourceServerName}/v1",
    auth: oauth2({
      tokenUrl: "https://${authorizationServerName}/token",
      clientId: "client_id",
      clientSecret: "client_secret",
      refreshToken: "refresh_token",
      authorization: {
        authorizeUrl: "https://${authorizationServerName}/auth",
        scopes: ["items:read", "offline_access"],
        issuer: "https://${authorizationServerName}",
        revokeUrl: "https://${authorizationServerName}/token/revocation",
        extra: { prompt: "consent" },
      },
    }),
  }),
  streams: [{ name: "items", schema: Type.Object({ id: Type.Integer() }), primaryKey: ["id"] }],
  async check(ctx) {
    await ctx.http.get(["me"]);
  },
  async *read(ctx) {
    await ctx.http.get(["items"]);
    yield records([{ id: 1 }]);
  },
});
`;

export const copyConnector = (from: string, to: string) =>
  cp(from, to, { recursive: true, verbatimSymlinks: true });

/** Accepts one token. */
export async function startNotes() {
  const authority = await sharedAuthority();
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

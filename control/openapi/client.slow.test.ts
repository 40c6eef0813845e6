/** A client with types of the document alone: it compiles, its mistakes do not, and it works. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl } from "../../tests/control.ts";
import { toTypeScript } from "../../tests/openapi-types.ts";

const client = `
import type { Operations } from "./types.ts";

type Input<K extends keyof Operations> = Pick<Operations[K], "body"> & Partial<Pick<Operations[K], "query">> &
  (keyof Operations[K]["params"] extends never ? { params?: undefined } : Pick<Operations[K], "params">);

export function createClient(base: string, token: string) {
  return async <K extends keyof Operations>(
    method: Operations[K]["method"], path: Operations[K]["path"], input: Input<K>,
  ): Promise<Operations[K]["answer"]> => {
    const params = (input.params ?? {}) as Record<string, string>;
    const url = new URL(base + path.replace(/\\{(\\w+)\\}/g, (_, name: string) => encodeURIComponent(params[name] ?? "")));
    for (const [name, value] of Object.entries(input.query ?? {})) url.searchParams.set(name, String(value));
    const answer = await fetch(url, {
      method,
      headers: { authorization: "Bearer " + token, ...(input.body ? { "content-type": "application/json" } : {}) },
      ...(input.body ? { body: JSON.stringify(input.body) } : {}),
    });
    const { data } = (await answer.json()) as { data: never };
    return { status: answer.status, data } as Operations[K]["answer"];
  };
}
`;

const program = `
import { createClient } from "./client.ts";
const [base = "", token = "", baseUrl = "", apiToken = ""] = process.argv.slice(2);
const call = createClient(base, token);

const stored = await call<"createCredentialMailerToken">("POST", "/credentials/mailer/api-token", {
  body: { base_url: baseUrl, api_token: apiToken },
});
if (stored.status !== 201) throw new Error("not stored");
const created = await call<"createSource">("POST", "/sources", {
  body: {
    name: "Typed",
    connector_id: stored.data.connector_id,
    credential_handle: stored.data.credential_handle,
    configuration: { base_url: baseUrl },
  },
});
if (created.status !== 201) throw new Error("not created");
const version: number = created.data.version;
const listed = await call<"listSources">("GET", "/sources", { query: { limit: 10 }, body: undefined });
const names: string[] = listed.data.items.map(({ name }) => name);
const one = await call<"getSource">("GET", "/sources/{source_id}", {
  params: { source_id: created.data.source_id },
  body: undefined,
});
console.log(JSON.stringify({ version, names, status: one.data.status }));

export const mistakes = async () => {
  // @ts-expect-error a field that does not exist
  await call<"createSource">("POST", "/sources", { body: { name: "x", colour: "red" } });
  // @ts-expect-error a parameter of the wrong type
  await call<"listSources">("GET", "/sources", { query: { limit: "ten" }, body: undefined });
  // @ts-expect-error a path without its parameter
  await call<"getSource">("GET", "/sources/{source_id}", { body: undefined });
  // @ts-expect-error a method that the operation does not have
  await call<"getSource">("PUT", "/sources/{source_id}", { params: { source_id: "x" }, body: undefined });
  // @ts-expect-error a field that no answer has
  console.log(listed.data.items[0]?.api_token);
};
`;

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const types = fileURLToPath(new URL("../../node_modules/@types", import.meta.url));

test("types that are made of the document fit the server", async () => {
  await using mailer = await startMailer({
    seed: 3,
    campaigns: 5,
    lists: 1,
    subscribersPerList: 5,
  });
  await using api = await startTestControl({
    seams: mailer.seams,
    sandbox: "inline",
    settings: { network: { approvedHosts: [mailer.hostname], allowNetworks: [] } },
  });
  const folder = await mkdtemp(join(tmpdir(), "svc-client-"));
  try {
    await api.server.listen({ port: 0, host: "127.0.0.1" });
    const { port } = api.server.server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}/control/v1`;
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as never;
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    await writeFile(join(folder, "types.ts"), toTypeScript(document));
    await writeFile(join(folder, "client.ts"), client);
    await writeFile(join(folder, "program.ts"), program);
    const options = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      lib: ["es2024"],
      allowImportingTsExtensions: true,
      types: ["node"],
      typeRoots: [types],
      erasableSyntaxOnly: true,
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["program.ts"] }),
    );
    const run = promisify(execFile);
    const compiled = await run(process.execPath, [tsc, "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
    const { stdout } = await run(process.execPath, [
      join(folder, "program.ts"),
      base,
      api.first.tokens.admin,
      mailer.baseUrl,
      mailer.token,
    ]);
    expect(JSON.parse(stdout)).toEqual({ version: 1, names: ["Typed"], status: "active" });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/**
 * Clients that two generators make of the document, as their users get them: they compile, and they
 * work.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl } from "../../tests/control.ts";
import {
  installTypeScript,
  pythonProgram,
  run,
  typeScriptProgram,
} from "../../tests/made-clients.ts";
import { installPythonPackages } from "../../tests/python-packages.ts";

const timeoutMs = 600_000;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-clients-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Calls with a server, the arguments of a program, and the document in a file of the folder. */
async function withServer(work: (args: readonly string[]) => Promise<void>): Promise<void> {
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
  await api.server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = api.server.server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/control/v1`;
  const document = await (await fetch(`${base}/openapi.json`)).text();
  await writeFile(join(folder, "openapi.json"), document);
  await work([base, api.first.tokens.admin, mailer.baseUrl, mailer.token]);
}

const outcome = { version: 1, names: ["Typed"], reason: "not_found" };

test(
  "types of openapi-typescript and a client of openapi-fetch",
  async ({ skip }) => {
    const lack = await installTypeScript(folder);
    if (lack !== undefined) skip(lack);
    await withServer(async (args) => {
      const node = (path: string, ...rest: readonly string[]) =>
        run(process.execPath, [join(folder, "node_modules", path), ...rest], { cwd: folder });
      // It reads the document with a linter of OpenAPI 3.1 first, which fails for one that is not
      // valid.
      await node("openapi-typescript/bin/cli.js", "openapi.json", "-o", "types.ts");
      await writeFile(join(folder, "program.ts"), typeScriptProgram);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        module: "nodenext",
        target: "es2023",
        lib: ["es2023", "dom", "dom.iterable"],
        allowImportingTsExtensions: true,
        types: [],
      };
      const files = ["program.ts", "process.d.ts"];
      await writeFile(join(folder, "process.d.ts"), "declare const process: { argv: string[] };\n");
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      const compiled = await node("typescript/bin/tsc", "-p", folder).catch(
        (error: { stdout: string }) => error,
      );
      expect(compiled.stdout).toBe("");
      const { stdout } = await run(process.execPath, [join(folder, "program.ts"), ...args]);
      expect(JSON.parse(stdout)).toEqual(outcome);
    });
  },
  timeoutMs,
);

test(
  "a package of openapi-python-client, which leaves no operation out",
  async ({ skip }) => {
    const python = await installPythonPackages();
    if ("lack" in python) return skip(python.lack);
    await withServer(async (args) => {
      const interpreter = join(python.bin, "python");
      // The generator has to be told that lines of JSON are a text.
      const settings =
        "post_hooks: []\ncontent_type_overrides:\n  application/x-ndjson: text/plain\n";
      await writeFile(join(folder, "settings.yml"), settings);
      const made = await run(
        join(python.bin, "openapi-python-client"),
        [
          "generate",
          "--path",
          "openapi.json",
          "--config",
          "settings.yml",
          "--output-path",
          "client",
        ],
        { cwd: folder },
      );
      expect(`${made.stdout}${made.stderr}`).not.toMatch(/warning|error/i);
      await writeFile(join(folder, "client/program.py"), pythonProgram);
      await run(interpreter, ["-m", "compileall", "-q", "client"], { cwd: folder });
      const { stdout } = await run(interpreter, [join(folder, "client/program.py"), ...args]);
      expect(JSON.parse(stdout)).toEqual(outcome);
    });
  },
  timeoutMs,
);

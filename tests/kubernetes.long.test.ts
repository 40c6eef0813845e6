/** deploy/kubernetes against the schemas of Kubernetes, which a validator from PyPI brings. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { run } from "./made-clients.ts";
import { installPythonPackages } from "./python-packages.ts";

const folder = fileURLToPath(new URL("../deploy/kubernetes/", import.meta.url));

test("every resource is valid, and has no property that there is not", async ({ skip }) => {
  const python = await installPythonPackages();
  if ("lack" in python) return skip(python.lack);
  const { resources } = parse(await readFile(join(folder, "kustomization.yaml"), "utf8"));
  const files = (resources as string[]).map((name) => join(folder, name));
  const validator = join(python.bin, "kubernetes-validate");
  for (const version of ["1.32", "1.37"]) {
    const { stdout, stderr } = await run(validator, ["--strict", "-k", version, ...files]);
    const passed = `${stdout}${stderr}`.match(/passed for resource/g) ?? [];
    expect(passed).toHaveLength(8);
  }
});

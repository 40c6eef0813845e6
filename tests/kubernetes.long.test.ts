/** deploy/kubernetes against the schemas of Kubernetes, which a validator from PyPI brings. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { installPythonPackages, run } from "./made-clients.ts";

const folder = fileURLToPath(new URL("../deploy/kubernetes/", import.meta.url));

test("every resource is valid, and has no property that there is not", async ({ skip }) => {
  const scratch = await mkdtemp(join(tmpdir(), "svc-kubernetes-"));
  try {
    const lack = await installPythonPackages(scratch, ["kubernetes-validate==1.37.0"]);
    if (lack !== undefined) skip(lack);
    const { resources } = parse(await readFile(join(folder, "kustomization.yaml"), "utf8"));
    const files = (resources as string[]).map((name) => join(folder, name));
    const validator = join(scratch, "venv/bin/kubernetes-validate");
    for (const version of ["1.32", "1.37"]) {
      const { stdout, stderr } = await run(validator, ["--strict", "-k", version, ...files]);
      const passed = `${stdout}${stderr}`.match(/passed for resource/g) ?? [];
      expect(passed).toHaveLength(8);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});

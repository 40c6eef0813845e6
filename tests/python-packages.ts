/**
 * Packages of Python that tests use, in one virtual environment that is fetched when it is first
 * asked for, and kept beside what Node has compiled.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = fileURLToPath(new URL("python-packages.py", import.meta.url));
const kept = fileURLToPath(new URL("../node_modules/.cache/svc/python/", import.meta.url));

const packages = [
  // PyAirbyte, and Airbyte's interpreter of manifests with a clock that can be stopped.
  ...["airbyte==0.71.3", "airbyte-cdk==7.39.1", "freezegun==1.5.5"],
  // Of which it is known that it reads the OpenAPI document.
  "openapi-python-client==0.29.1",
  // A store of objects.
  ...["moto[s3,iam]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"],
  // The schemas of Kubernetes.
  "kubernetes-validate==1.37.0",
];

/** The folder of its programs, with `python`; or what lacks, in words. */
export type PythonPackages = { readonly bin: string } | { readonly lack: string };

/** Fetches them when no other test has; whoever asks meanwhile waits. */
export async function installPythonPackages(): Promise<PythonPackages> {
  const list = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 12);
  const folder = join(kept, list);
  try {
    await promisify(execFile)("python3", [program, folder, ...packages], { timeout: 600_000 });
    return { bin: join(folder, "bin") };
  } catch {
    return { lack: `python3, or pip with ${packages.join(" ")}, does not work here` };
  }
}

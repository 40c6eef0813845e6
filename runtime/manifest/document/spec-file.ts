/**
 * The settings of a manifest that has none itself: they lie in `spec.yaml` or `spec.json` beside
 * it.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { parseYaml } from "./document.ts";

const names = ["spec.yaml", "spec.yml", "spec.json"];

/**
 * The `spec` of a manifest, out of the file; undefined where there is none.
 * @param manifest its path
 * @throws CONNECTOR_INVALID for a file that is no specification
 */
export function readSpecFile(manifest: string): JsonObject | undefined {
  for (const name of names) {
    const text = textOf(join(dirname(manifest), name));
    if (text === undefined) continue;
    const { connectionSpecification, documentationUrl } = parseYaml(text, name);
    if (!isJsonObject(connectionSpecification)) continue;
    return {
      type: "Spec",
      connection_specification: connectionSpecification,
      ...(typeof documentationUrl === "string" ? { documentation_url: documentationUrl } : {}),
    };
  }
  return undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // what the sandbox cannot read is not there
  }
}

/**
 * Reports how `svc` takes declarative manifests that others have published:
 *
 *     npm run docs:published -- FOLDER ["where they come from"]
 *
 * FOLDER has them as `NAME.yaml` or `NAME/manifest.yaml`, with what lies beside. Nothing of them is
 * kept but the table.
 */
import { globSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConnectorError, createHost, findConnector } from "svc-connectors/host";
import { parse } from "yaml";

interface Outcome {
  readonly name: string;
  readonly version: string;
  /** Streams that its document lists, without those that are made when it runs. */
  readonly streams: number;
  readonly missing: number;
  /** Why streams, or all of it, cannot be read. */
  readonly reasons: readonly string[];
}

/** Loads each manifest of a folder as `svc spec` does; no request is made. */
export async function tryPublished(folder: string): Promise<Outcome[]> {
  await using host = createHost();
  const outcomes: Outcome[] = [];
  const found = globSync("{*.{yaml,yml},*/manifest.{yaml,yml}}", { cwd: folder }).sort();
  for (const file of found.filter((one) => basename(one) !== "spec.yaml")) {
    const path = join(realpathSync(folder), file);
    const name = file.includes("/") ? dirname(file) : file.replace(/\.ya?ml$/, "");
    const { version, streams } = facts(readFileSync(path, "utf8"));
    try {
      const { missingStreams = [] } = await host.spec(findConnector(path, "/"));
      const reasons = missingStreams.map(({ path, problem }) => `${withoutPlace(path)} ${problem}`);
      outcomes.push({ name, version, streams, missing: missingStreams.length, reasons });
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      const { path = "", problem = error.message } = error.details;
      const reason = `${path} ${problem}`;
      outcomes.push({ name, version, streams, missing: streams, reasons: [reason.trim()] });
    }
  }
  return outcomes;
}

/** The part of a place that others have too. */
const withoutPlace = (path: string) => path.split(".").slice(-2).join(".");

function facts(text: string): { version: string; streams: number } {
  try {
    const { version, streams } = parse(text) as { version?: unknown; streams?: unknown };
    return { version: String(version ?? ""), streams: Array.isArray(streams) ? streams.length : 0 };
  } catch {
    return { version: "", streams: 0 };
  }
}

/** @param from where they come from, in a sentence's middle */
export function renderPublished(outcomes: readonly Outcome[], from: string): string {
  const streams = outcomes.reduce((sum, one) => sum + one.streams, 0);
  const missing = outcomes.reduce((sum, one) => sum + one.missing, 0);
  const whole = outcomes.filter(({ reasons }) => reasons.length === 0).length;
  const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s+/g, " ").slice(0, 300);
  const rows = outcomes.map(({ name, version, streams, missing, reasons }) =>
    [name, version, String(streams), String(missing), [...new Set(reasons)].join("; ") || "—"]
      .map(cell)
      .join(" | "),
  );
  return `# Published manifests, as svc finds them

Made by \`npm run docs:published -- FOLDER\` from manifests ${from}. They are ${outcomes.length}: a sample, and no claim about all there are. Each was loaded as \`svc spec\` does, without an account and without a request.
Streams that they list: ${streams}, of which ${streams - missing} can be read. Manifests that need nothing which is not supported: ${whole} of ${outcomes.length}.
What a manifest is refused for is a fact about both sides: what is supported stands in [manifests.md](manifests.md#what-is-supported).

| manifest | version | streams | cannot be read | why |
|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join("\n")}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, from = "of a folder"] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("Usage: npm run docs:published -- FOLDER [where they come from]");
    process.exit(64);
  }
  const page = new URL("published-connectors.md", import.meta.url);
  writeFileSync(page, renderPublished(await tryPublished(folder), from));
}

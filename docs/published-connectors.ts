/**
 * Reports how `svc` takes declarative manifests that others have published:
 *
 *     npm run docs:published -- FOLDER ["where they come from"] [--kit-seconds 120]
 *
 * FOLDER has them as wheels of Python, as `NAME.yaml` or as `NAME/manifest.yaml`, with what lies
 * beside. Where Python and pip work, they are compared with Airbyte's interpreter. Nothing of them is
 * kept but the table; differences are explained in tests/manifests/published-explained.yaml.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import {
  openPublished,
  openWork,
  startOther,
  type Tried,
  type TryOptions,
  tryManifest,
} from "../tests/manifests/published.ts";
import { installPythonPackages } from "../tests/python-packages.ts";

/** Tries each manifest of a folder; without options it is only loaded, and no request is made. */
export async function tryPublished(folder: string, options: TryOptions = {}): Promise<Tried[]> {
  using work = openWork();
  const tried: Tried[] = [];
  for (const published of openPublished(folder, work.folder))
    tried.push(await tryManifest(published, options));
  return tried;
}

/** Whose a difference is, and why, by `NAME STREAM` or `NAME`. */
interface Explained {
  readonly streams: Readonly<Record<string, string>>;
  /** Of manifests that a reader may wonder about. */
  readonly manifests: Readonly<Record<string, string>>;
  /** What an author can do about a failure of the kit, or what else it comes from, by rule. */
  readonly rules: Readonly<Record<string, string>>;
}

const explainedFile = new URL("../tests/manifests/published-explained.yaml", import.meta.url);
const readExplained = () => parse(readFileSync(explainedFile, "utf8")) as Explained;

/** It reads no record of it, and here it is read. */
const isRefusedThere = ({ failure, differences }: Tried["compared"][number]) =>
  failure !== "" && differences.some(({ part }) => part === "failed");

const notesOf = (name: string, { manifests }: Explained) =>
  manifests[name] === undefined ? [] : [`- ${name}: ${manifests[name].trim()}`];

const percent = (part: number, of: number) =>
  of === 0 ? "none" : `${((100 * part) / of).toFixed(1)} %`;
const cell = (text: string) =>
  text.replaceAll("|", "\\|").replace(/[<>]/g, "\\$&").replace(/\s+/g, " ").slice(0, 400);
const row = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
const isEqual = ({ differences }: Tried["compared"][number]) => differences.length === 0;

/** @param from where they come from, in a sentence's middle */
export function renderPublished(
  tried: readonly Tried[],
  from: string,
  explained: Explained = readExplained(),
): string {
  const loaded = tried.filter(({ refusal }) => refusal === undefined);
  const plain = tried.filter(({ isWithPython }) => !isWithPython);
  const plainLoaded = plain.filter(({ refusal, missingCount }) => !refusal && missingCount === 0);
  const compared = tried.flatMap(({ compared }) => compared);
  const equal = compared.filter(isEqual);
  const bare = equal.filter(({ rows }) => rows === 0);
  const refusedThere = compared.filter(isRefusedThere);
  const asked = tried.filter(({ kit }) => kit !== undefined);
  return `# Published manifests, as svc finds them

Made by \`npm run docs:published -- FOLDER\` from manifests ${from}: a sample, and no claim about all there are.

| | |
|---|---|
| tried | ${tried.length} manifests, ${sum(tried.map(({ streams }) => streams))} streams |
| loaded | ${loaded.length} of ${tried.length}; of those without components in Python ${plainLoaded.length} of ${plain.length} with every stream |
| compared with Airbyte's interpreter | ${compared.length} streams |
| of these the same requests, records and states | ${equal.length} (${percent(equal.length, compared.length)}) |
| of the others, refused by Airbyte's interpreter and read here | ${refusedThere.length} |
| equal, though without a record from the made provider | ${bare.length} (${bare.filter(({ failure }) => failure !== "").length} fail in both) |

Each was loaded as \`svc spec\` does. Where it loads, both interpreters read each of its streams from a provider that is made of the manifest, from the beginning and from the state that one of them has left; of a manifest with
components in Python those streams that need none. Nothing is known of the real providers. What a manifest is refused for is a fact about both sides: what is supported stands in [manifests.md](manifests.md#what-is-supported).

| manifest | version | streams | cannot be read | why | equal | of |
|---|---|---|---|---|---|---|
${tried.map(toRow).join("\n")}

${tried.flatMap(({ name }) => notesOf(name, explained)).join("\n")}

## Differences

${compared.length === equal.length ? "None." : `${differencesHead}\n${tried.flatMap((one) => differencesOf(one, explained)).join("\n")}`}

## What the conformance kit says

${asked.length === 0 ? "It was not asked." : `${kitHead(Math.max(...asked.map(({ kit }) => kit?.budgetSeconds ?? 0)))}\n\n| manifest | rules tried | left | failed |\n|---|---|---|---|\n${asked.map(toKitRow).join("\n")}\n\n${rulesHead}\n${rulesOf(asked, explained).join("\n")}`}
`;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

function toRow({ name, version, streams, missing, missingCount, refusal, compared }: Tried) {
  const lost = refusal === undefined ? missingCount : streams;
  const why = (refusal === undefined ? missing.join("; ") : refusal) || "—";
  const counts =
    compared.length === 0 ? ["—", "—"] : [compared.filter(isEqual).length, compared.length];
  return row([name, version, String(streams), String(lost), why, ...counts.map(String)]);
}

const differencesHead = `| manifest | stream | part | what differs | why |\n|---|---|---|---|---|`;

function differencesOf({ name, compared }: Tried, explained: Explained): string[] {
  return compared.flatMap(({ stream, differences }) => {
    const [first, ...others] = differences;
    if (!first) return [];
    const parts = [first, ...others].map(({ part }) => part).join(", ");
    const why =
      explained.streams[`${name} ${stream}`] ?? explained.streams[name] ?? "not explained yet";
    return [row([name, stream, parts, first.text, why])];
  });
}

/** @param budget seconds that it was given for each */
const kitHead = (
  budget: number,
) => `Its rules in this process, with recordings from the made provider, with a budget of ${budget} seconds each: so it finds what a manifest does with answers, and nothing about the provider. Rules of what the interpreter does for every manifest do not apply.
These are facts about how a manifest meets faults that providers seldom show, not about the work of its authors: Airbyte's own interpreter tells fewer faults apart.
Some come from the made provider or its settings, not from the manifest: the second table says what each rule's failures come to. Rules that were left say nothing.`;

const rulesHead = `| rule | what its failures come to |\n|---|---|`;

/** A row for each rule that failed. */
const rulesOf = (asked: readonly Tried[], { rules }: Explained): string[] =>
  [...new Set(asked.flatMap(({ kit }) => kit?.failed.map(({ rule }) => rule) ?? []))]
    .sort()
    .map((rule) => row([rule, rules[rule] ?? "not explained yet"]));

/** Little time is no praise. */
const noneOf = (tried: number, left: number) =>
  tried === 0 ? "not one was tried in this time" : left > 0 ? "none of those tried" : "none";

function toKitRow({ name, kit }: Tried) {
  const { tried = 0, left = 0, failed = [], lack } = kit ?? {};
  const lines = failed.map(({ rule, sentence }) => `${rule}: ${sentence.slice(0, 120)}`);
  return row([
    name,
    String(tried),
    String(left),
    lack ?? (lines.join(" · ") || noneOf(tried, left)),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "kit-seconds": { type: "string", default: "120" }, out: { type: "string" } },
  });
  const [folder, from = "of a folder"] = positionals;
  if (folder === undefined) {
    console.error("Usage: npm run docs:published -- FOLDER [where they come from]");
    process.exit(64);
  }
  const python = await installPythonPackages();
  if ("lack" in python) console.error(`Not compared: ${python.lack}`);
  const other = "lack" in python ? undefined : await startOther(join(python.bin, "python"));
  const kitMs = Number(values["kit-seconds"]) * 1_000;
  const page = values.out ?? new URL("published-connectors.md", import.meta.url);
  using work = openWork();
  const tried: Tried[] = [];
  for (const published of openPublished(folder, work.folder)) {
    tried.push(await tryManifest(published, { other, kitMs }));
    console.error(`${published.name}: ${tried.at(-1)?.refusal ?? "loaded"}`);
    writeFileSync(page, renderPublished(tried, from));
  }
  await other?.[Symbol.asyncDispose]();
}

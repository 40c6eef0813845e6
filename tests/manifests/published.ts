/**
 * Published manifests against Airbyte's interpreter, and what the conformance kit says of them: each
 * stream read by both from a provider that is made of its manifest, from the beginning and from the
 * state that the other has left. Start at `tryManifest`.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { openKit } from "../../conformance/kit.ts";
import { record } from "../../conformance/recorder/record.ts";
import type { CatalogStream } from "../../runtime/contract/catalog.ts";
import { ConnectorError } from "../../runtime/contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../runtime/contract/json.ts";
import { createMemoryTokenStore } from "../../runtime/contract/token-store.ts";
import { createHost } from "../../runtime/host/create-host.ts";
import { findConnector } from "../../runtime/host/registry.ts";
import { readDocument } from "../../runtime/manifest/document/document.ts";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { createInstantClock, startProvider } from "../../simulators/loopback.ts";
import { createMemorySink } from "../memory-sink.ts";
import { type Case, type CaseStream, now } from "./cases.ts";
import { type CdkWorld, startCdk } from "./cdk.ts";
import { createMadeProvider } from "./made-provider.ts";
import { makeSettings, ownHost, secretsIn } from "./made-settings.ts";
import { type Reading, toReading } from "./read-here.ts";

/** A manifest and what lies beside it. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly text: string;
}

export interface Tried extends Pick<Published, "name" | "version"> {
  /** Streams that its document lists. */
  readonly streams: number;
  /** The place and the reason; undefined: it loads. */
  readonly refusal?: string | undefined;
  /** Streams that cannot be read, by reason. */
  readonly missing: readonly string[];
  readonly missingCount: number;
  /** Whether the document names a class in Python. */
  readonly isWithPython: boolean;
  readonly compared: readonly StreamCompared[];
  readonly kit?: KitSays | undefined;
}

export interface StreamCompared {
  readonly stream: string;
  /** Records that the first reading gave there. */
  readonly rows: number;
  /** Why the first reading failed there; "" when it did not. */
  readonly failure: string;
  /** The first line of each part that differs; empty: they are equal. */
  readonly differences: readonly { readonly part: string; readonly text: string }[];
}

export interface KitSays {
  readonly tried: number;
  readonly left: number;
  /** Id and first sentence. */
  readonly failed: readonly { readonly rule: string; readonly sentence: string }[];
  /** Time that it was given. */
  readonly budgetSeconds: number;
  readonly lack?: string | undefined;
}

const fileName = "manifest.yaml";

/**
 * The manifests of a folder: `NAME.yaml`, `NAME/manifest.yaml`, or wheels of Python with one inside.
 * @param work a folder into which wheels are unpacked
 */
export function openPublished(folder: string, work: string): Published[] {
  for (const wheel of globSync("*.whl", { cwd: folder })) {
    const [, name = "", version = ""] = /^([\w.]+)-([\w.]+)-/.exec(wheel) ?? [];
    const inside = join(work, "wheels", `${name}@${version}`);
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, wheel), inside]);
    const [found] = globSync(`*/${fileName}`, { cwd: inside });
    if (found === undefined) continue;
    const own = join(work, "unpacked", `${dirname(found).replaceAll("_", "-")}@${version}`);
    for (const part of [fileName, "spec.yaml", "spec.json", "schemas"])
      if (existsSync(join(inside, dirname(found), part)))
        cpSync(join(inside, dirname(found), part), join(own, part), { recursive: true });
  }
  const roots = [folder, join(work, "unpacked")];
  return roots
    .flatMap((root) =>
      globSync(`{*.{yaml,yml},*/${fileName}}`, { cwd: root }).map((file) => join(root, file)),
    )
    .filter((path) => basename(path) !== "spec.yaml")
    .map((path) => {
      const isInFolder = basename(path) === fileName;
      const whole = isInFolder ? basename(dirname(path)) : basename(path).replace(/\.ya?ml$/, "");
      const [name = "", package_ = ""] = whole.split("@");
      const text = readFileSync(path, "utf8");
      // One that lies alone gets a folder of its own: what is beside it are others.
      const own = join(work, "own", whole);
      cpSync(isInFolder ? dirname(path) : path, isInFolder ? own : join(own, fileName), {
        recursive: true,
      });
      return { name, version: package_ || versionOf(text), folder: own, text };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function versionOf(text: string): string {
  try {
    return String((parse(text) as { version?: unknown }).version ?? "");
  } catch {
    return "";
  }
}

export interface TryOptions {
  /** Airbyte's interpreter; undefined: nothing is compared. */
  readonly other?: OtherInterpreter | undefined;
  /** Time for the kit; 0: it is not asked. */
  readonly kitMs?: number | undefined;
}

export async function tryManifest(published: Published, options: TryOptions): Promise<Tried> {
  const { name, version, text, folder } = published;
  const facts = {
    ...{ name, version, missing: [], missingCount: 0, compared: [] },
    isWithPython: /^\s*-?\s*class_name:/m.test(text),
  };
  let streams = 0;
  try {
    const document = readDocument(text);
    streams = [document.streams ?? []].flat().length;
    document.spec ??= { connection_specification: specBeside(folder) };
    await using world = await openWorld(published, document);
    const { missingStreams = [] } = await world.host.spec(world.connector);
    const missing = [
      ...new Set(missingStreams.map(({ path, problem }) => `${withoutStream(path)} ${problem}`)),
    ];
    const loaded = { ...facts, streams, missing, missingCount: missingStreams.length };
    const gone = missingStreams.map(({ stream }) => stream);
    return {
      ...loaded,
      compared: options.other ? await compareStreams(world, gone, options.other) : [],
      kit: options.kitMs ? await askKit(world, options.kitMs) : undefined,
    };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const { path = "", problem = error.message } = error.details;
    return { ...facts, streams, refusal: `${path} ${problem}`.trim() };
  }
}

/** The part of a place that other streams have too. */
const withoutStream = (path: string) =>
  path
    .replace(/^streams\.[^.]+\./, "")
    .split(".")
    .slice(-2)
    .join(".");

function specBeside(folder: string): JsonObject {
  for (const file of ["spec.yaml", "spec.json"]) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    const { connectionSpecification } = parse(readFileSync(path, "utf8")) as JsonObject;
    if (isJsonObject(connectionSpecification)) return connectionSpecification;
  }
  return { type: "object", properties: {} };
}

/** Hosts that a certificate has to name, those of settings filled in. */
function hostsOf(text: string): string[] {
  const written = [...text.matchAll(/https:\/\/((?:\{\{[^}]*\}\}|[a-z0-9.-])+)/gi)];
  const hosts = written.map(([, host = ""]) => host.replace(/\{\{.*?\}\}/g, "acme").toLowerCase());
  const isName = (host: string) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(host);
  return [...new Set([ownHost, ...hosts.filter(isName)])].slice(0, 60);
}

/** The provider, settings for it, and this runtime. */
async function openWorld({ name, folder, text }: Published, document: JsonObject) {
  const spec = isJsonObject(document.spec) ? document.spec : {};
  const specification = spec.connection_specification;
  const config = makeSettings(isJsonObject(specification) ? specification : {}, (name) =>
    new RegExp(`https://\\{\\{[^}]*\\b${name}\\b[^}]*\\}\\}\\.`).test(text),
  );
  const schemaOf = (stream: string) => {
    const path = join(folder, "schemas", `${stream}.json`);
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as JsonObject) : undefined;
  };
  const made = createMadeProvider(document, schemaOf, secretsIn(config));
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue(hostsOf(text));
  const provider = await startProvider(made.handle, { certificate });
  const clock = createInstantClock(Date.parse(now));
  const settings = { approvedHosts: [ownHost] };
  const seams = { ...provider.seams, ca: authority.caPem };
  const host = createHost({
    ...{ settings, seams, sandbox: "inline" },
    // A wait of a millisecond, as between two requests, must not show in a request.
    clock: {
      ...{ ...clock, standsStill: true },
      now: () => Math.floor(clock.now() / 1_000) * 1_000,
    },
    tokens: () => createMemoryTokenStore({ refreshToken: "refresh-Pw93NbCzQs17Hf" }),
  });
  return {
    ...{ name, folder, text, document, spec, config, made, provider, clock, host, settings, seams },
    connector: findConnector(join(folder, fileName), "/"),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

const filesOf = (folder: string) =>
  Object.fromEntries(
    globSync("schemas/**/*.json", { cwd: folder }).map((path) => [
      path,
      JSON.parse(readFileSync(join(folder, path), "utf8")),
    ]),
  );

/** Airbyte's interpreter, started once for all manifests. */
export async function startOther(python: string) {
  let current: CdkWorld | undefined;
  const world = () => {
    if (!current) throw new Error("no manifest is being read");
    return current;
  };
  const there = await startCdk(python, {
    open: (one) => world().open(one),
    toManifest: (...given) => world().toManifest(...given),
    toConfig: (...given) => world().toConfig(...given),
  });
  return {
    there,
    enter(world: CdkWorld) {
      current = world;
    },
    [Symbol.asyncDispose]: () => there[Symbol.asyncDispose](),
  };
}
type OtherInterpreter = Awaited<ReturnType<typeof startOther>>;

/** @param gone streams that this runtime cannot read: the other one is not given them */
async function compareStreams(
  world: World,
  gone: readonly string[],
  { there, enter }: OtherInterpreter,
) {
  const { name, folder, text, config, made, host, connector, spec } = world;
  let stream = "";
  enter({
    open() {
      made.restart(stream);
      return made.handle;
    },
    toManifest(_, origin) {
      const lines = text
        .split("\n")
        .map((line) =>
          /\$schema|documentation|pattern|examples/.test(line)
            ? line
            : line
                .replaceAll(/https:\/\/(?:\{\{[^}]*\}\}|[a-z0-9.-])+/gi, origin)
                .replace(/(file_path:.*?\b)source_\w+\//, "$1source_case/"),
        );
      const manifest = parse(lines.join("\n"), { merge: true }) as JsonObject;
      manifest.spec ??= spec;
      const isKept = (one: JsonValue) => !gone.includes(nameOf(one, manifest));
      manifest.streams = [manifest.streams ?? []].flat().filter(isKept);
      return manifest;
    },
    toConfig: (_, origin) =>
      JSON.parse(JSON.stringify(config).replaceAll(`https://${ownHost}`, origin)),
  });
  const one: Case = {
    ...{ file: name, manifest: text, config, states: {}, fails: [], ownWaits: [] },
    ...{ ownRequests: [], files: filesOf(folder) },
  };
  made.restart("");
  const streams = await host.discover(connector, config as never);
  const compared: StreamCompared[] = [];
  for (const found of streams) {
    stream = found.name;
    const known: CaseStream = {
      name: found.name,
      isIncremental: found.supported_sync_modes.includes("incremental"),
      properties: (found.json_schema as unknown as CaseStream).properties,
    };
    const theirs = await there.read(one, known, undefined);
    const differences = differencesOf(theirs, await readHere(world, one, known, found, undefined));
    if (known.isIncremental && theirs.state !== undefined && differences.length === 0) {
      const later = await there.read(one, known, theirs.state);
      const ours = await readHere(world, one, known, found, theirs.state);
      differences.push(
        ...differencesOf(later, ours).map(({ part, text }) => ({ part, text: `later: ${text}` })),
      );
    }
    const { records, reason } = theirs;
    compared.push({ stream: found.name, rows: records.length, failure: reason, differences });
  }
  return compared;
}

function nameOf(stream: JsonValue, manifest: JsonObject): string {
  let found: JsonValue | undefined = stream;
  const reference =
    typeof stream === "string" ? stream : isJsonObject(stream) ? stream.$ref : undefined;
  if (typeof reference === "string" && reference.startsWith("#/"))
    for (const step of ["", ...reference.slice(2).split("/")])
      found = step === "" ? manifest : isJsonObject(found) ? found[step] : undefined;
  const [inner, own] = [found, stream].map((value) => (isJsonObject(value) ? value : {}));
  const given = (value: JsonObject | undefined) =>
    value?.name ?? (isJsonObject(value?.$parameters) ? value.$parameters.name : undefined);
  return String(given(own) ?? given(inner));
}

async function readHere(
  world: World,
  one: Case,
  stream: CaseStream,
  chosen: CatalogStream,
  state: unknown,
): Promise<Reading> {
  const { made, provider, clock, host, connector, config } = world;
  made.restart(stream.name);
  provider.received.length = 0;
  clock.advance(Date.parse(now) - clock.now());
  const mode = stream.isIncremental ? "incremental" : "full_refresh";
  const sink = createMemorySink();
  const saved = state === undefined ? {} : { state: [{ stream: { name: stream.name }, state }] };
  const summary = await host.read(
    connector,
    { config, catalog: { streams: [{ stream: chosen, sync_mode: mode }] }, ...saved } as never,
    sink,
  );
  return toReading(one, stream, {
    received: provider.received,
    records: sink.rows(stream.name),
    state: sink.state(stream.name),
    waits: [],
    reason: summary.status === "succeeded" ? "" : JSON.stringify(summary),
  });
}

function differencesOf(theirs: Reading, ours: Reading) {
  const lines = (part: unknown): string[] => (Array.isArray(part) ? part : [JSON.stringify(part)]);
  return (["failed", "requests", "records", "state"] as const).flatMap((part) => {
    const [left, right] = [lines(theirs[part]), lines(ours[part])];
    const at = left.findIndex((line, index) => line !== right[index]);
    if (at === -1 && left.length === right.length) return [];
    const first = at === -1 ? left.length : at;
    const because = theirs.reason || ours.reason ? `; ${theirs.reason}; ${ours.reason}` : "";
    const [there, here] = apart(String(left[first]), String(right[first]));
    const counts =
      left.length === right.length ? "" : `${left.length} there, ${right.length} here; `;
    return [{ part, text: `${counts}there ${there}, here ${here}${because}`.slice(0, 600) }];
  });
}

/** The parts of two lines in which they differ, and what stands before. */
function apart(left: string, right: string): [string, string] {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const cut = (text: string) => text.slice(Math.max(0, at - 40), at + 80);
  return [cut(left), cut(right)];
}

/** Recordings from the made provider, and the rules on them, in this process. */
async function askKit(world: World, budgetMs: number): Promise<KitSays> {
  const { folder, connector, config, made, host, settings, seams } = world;
  const started = performance.now();
  const budgetSeconds = budgetMs / 1_000;
  const nothing = { tried: 0, left: 0, failed: [] };
  made.restart("");
  try {
    // It shows the provider where secrets stand: the recorder tries wrong ones.
    await host.check(connector, config);
    await record({
      ...{ connector, config: config as never, settings, seams, sandbox: "inline", now },
      ...{ folder: join(folder, "fixtures"), signal: AbortSignal.timeout(budgetMs) },
    });
    await using kit = await openKit({
      ...{
        connector: join(folder, fileName),
        cwd: folder,
        kind: "module",
        profiles: ["core", "resumable", "resilient"],
      },
      ...{ rules: [], seed: 1, isExhaustive: false, network: settings, command: "" },
      budgetMs: Math.max(1_000, budgetMs - (performance.now() - started)),
    } as never);
    const report = await kit.run();
    // Rules of the recordings are about those of this script.
    const failed = report.rules.filter(
      ({ id, result }) => (result === "fail" || result === "error") && !id.startsWith("FIX-"),
    );
    const left = report.counts["left-out"];
    return {
      tried: report.rules.length - left,
      left,
      failed: failed.map(({ id, problems }) => ({
        rule: id,
        sentence: problems[0]?.sentence ?? "",
      })),
      budgetSeconds,
    };
  } catch (error) {
    return { ...nothing, budgetSeconds, lack: (error as Error).message.split(/\n|\. /)[0] };
  }
}

/** A folder for what is unpacked, which goes with the work. */
export function openWork() {
  const folder = mkdtempSync(join(tmpdir(), "svc-published-"));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

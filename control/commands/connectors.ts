/**
 * `svc connectors`: those that come with svc, and whether new sources may use them; and those of
 * the operator's own: `add`, `remove`, `list`, `digest`.
 */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  allowHostFlag,
  answer,
  type CommandBuilder,
  ConnectorError,
  exposeSecretFlag,
  formatTable,
  hasOwnComponents,
  jsonFlag,
  listConnectors,
  manifestName,
  oneOf,
  pinnedSandboxes,
  printable,
  readConnectorCode,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import type { GivenReport } from "../connectors/conformance.ts";
import { type GivenImage, imageDigest, nameOfImage } from "../connectors/images.ts";
import { maxManifestLength, moduleAt, noPackage, toPlace } from "../connectors/places.ts";
import type { OperatorData } from "../operator/operator.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, locate, openOperator } from "./instance.ts";

const imagePrefix = "image:";
const ownArgument =
  "the path of a module or of its folder, or of a declarative manifest, the name of an installed package, or image:NAME";

export const buildConnectors: CommandBuilder = (command, terminal) => {
  command.option(...jsonFlag).action(({ json }) => listConnectors(terminal, json));
  addInstanceOptions(command.command("list"))
    .description("show those that were added, and whether they can run here")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async ({ json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const { connectors } = await operator.run("connector.list_added", {});
        await answer(terminal, json, { connectors }, () => describeAdded(connectors));
      }),
    );
  addInstanceOptions(command.command("add"))
    .description("add one that does not come with svc, or one whose code has changed")
    .argument("<connector>", ownArgument)
    .option(
      "--sandbox <LEVEL>",
      "the least wall around it: bubblewrap (default), or process: you trust its code so far",
      oneOf("sandbox", pinnedSandboxes),
    )
    .option("--digest <DIGEST>", "only this code: what svc connectors digest has shown")
    .option(...allowHostFlag())
    .option(...exposeSecretFlag())
    .option("--report <FILE>", "what svc conformance --report json has found: shown beside it")
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc connectors add ./helpdesk")
    .action(
      failingInOneLine(async (connector, options) => {
        const { sandbox, digest, report: file, json } = options;
        const may = { hosts: options.allowHost ?? [], exposed: options.exposeSecret ?? [] };
        const report = file === undefined ? undefined : await readReport(file, terminal);
        await using operator = await openOperator(terminal, options);
        const given = await givenConnector(connector, terminal, may);
        const body = { ...given, sandbox, digest, report };
        const made = await operator.run("connector.add", { body });
        await answer(terminal, json, made, () => describeMade(made));
      }),
    );
  addInstanceOptions(command.command("remove"))
    .description("take one away that was added; what was made with it is kept and does not run")
    .argument("<id>", "conn_…; svc connectors list shows them")
    .option(...jsonFlag)
    .action(
      failingInOneLine(async (connector, { json, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const removed = await operator.run("connector.remove", { body: { connector } });
        await answer(
          terminal,
          json,
          removed,
          () =>
            `${removed.connector_id} is removed: what was made with it is kept, and runs no more`,
        );
      }),
    );
  addInstanceOptions(command.command("digest"))
    .description("show the digest of a connector's code, for connectors: in the settings")
    .argument("<connector>", ownArgument)
    .option(...jsonFlag)
    .action(
      failingInOneLine(async (connector, { json, ...options }) => {
        if (connector.startsWith(imagePrefix)) {
          const digest = await imageDigest(connector.slice(imagePrefix.length), terminal.signal);
          return await answer(terminal, json, { digest }, () => digest);
        }
        const { settings } = await locate(terminal, options);
        const place = toPlace(namedPlace(connector, terminal), settings.folder);
        const { url } = await moduleAt(place, settings.folder).catch((error: unknown) => {
          const isMissing = error instanceof ConnectorError && place.kind === "package";
          throw isMissing ? new UsageError(noPackage) : error;
        });
        const { digest } = await readConnectorCode(url);
        await answer(terminal, json, { digest }, () => digest);
      }),
    );
  for (const verb of ["enable", "disable"] as const)
    addInstanceOptions(command.command(verb))
      .description(verb === "enable" ? "open one for new sources" : "close one for new sources")
      .argument("<connector>", `the connector to ${verb}; svc connectors lists them`)
      .option(...jsonFlag)
      .action(
        failingInOneLine(async (connector, { json, ...options }) => {
          await using operator = await openOperator(terminal, options);
          const made = await operator.run("connector.set", {
            body: { connector, enabled: verb === "enable" },
          });
          await answer(terminal, json, made, () =>
            made.enabled
              ? `${made.connector_id} is enabled`
              : `${made.connector_id} is disabled: what exists stays, nothing new begins`,
          );
        }),
      );
};

/**
 * The connector to add: of a manifest that is data the text itself, so that every host has it.
 * @throws UsageError
 */
async function givenConnector(
  connector: string,
  terminal: Pick<Terminal, "cwd">,
  may: Pick<GivenImage, "hosts" | "exposed">,
) {
  if (connector.startsWith(imagePrefix)) {
    const reference = connector.slice(imagePrefix.length);
    const name = nameOfImage(reference);
    if (name === "") throw new UsageError("name an image: image:acme/source-shop:1.4.2");
    return { image: { name, reference, hosts: [...may.hosts], exposed: [...may.exposed] } };
  }
  if (may.hosts.length + may.exposed.length > 0)
    throw new UsageError(
      "--allow-host and --expose-secret are for images; other connectors declare their hosts",
    );
  const place = namedPlace(connector, terminal);
  if (place.path === undefined || !/\.ya?ml$/.test(place.path)) return place;
  // With components of its author's own it is code, which is pinned where it lies.
  if (hasOwnComponents(place.path)) return place;
  const { size } = await stat(place.path);
  if (size > maxManifestLength)
    throw new UsageError(`the manifest is larger than ${maxManifestLength} bytes`);
  const text = await readFile(place.path, "utf8");
  return { manifest: { name: nameOfManifest(place.path), text } };
}

/**
 * A report without its evidence, which may be long and stays with its author.
 * @throws UsageError
 */
async function readReport(file: string, { cwd }: Pick<Terminal, "cwd">): Promise<GivenReport> {
  const text = await readFile(resolve(cwd, file), "utf8").catch(() => {
    throw new UsageError(`the report cannot be read: "${printable(file, 300)}"`);
  });
  try {
    const { rules, ...report } = JSON.parse(text) as GivenReport;
    const short = ({ problems, ...rule }: GivenReport["rules"][number]) => ({
      ...rule,
      problems: problems.map(({ sentence }) => ({ sentence })),
    });
    return { ...report, rules: rules.map(short) };
  } catch {
    throw new UsageError(
      `"${printable(file, 300)}" is no report: svc conformance … --report json --out ${printable(file, 300)} makes one`,
    );
  }
}

/** In the form that ids and tables take. @throws UsageError */
function nameOfManifest(path: string): string {
  const name = manifestName(path)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "");
  if (name !== "") return name;
  throw new UsageError("the manifest's file has no name that a connector could have: rename it");
}

/** @throws UsageError */
function namedPlace(connector: string, { cwd }: Pick<Terminal, "cwd">) {
  if (!/^[./~]|^file:|\.[cm]?[jt]s$|\.ya?ml$/.test(connector)) return { package: connector };
  const path = resolve(cwd, connector);
  if (existsSync(path)) return { path };
  throw new UsageError(`there is nothing at "${printable(connector, 300)}"`);
}

function describeMade(made: OperatorData<"connector.add">): string {
  const facts = [
    ["reaches", made.reaches.join(", ")],
    ["secrets", made.secret_fields.join(", ") || "none"],
    ["sandbox", made.sandbox],
    ["digest", made.digest],
    ...made.exposed_secrets.map((name) => ["exposed", `the image itself gets ${name}`]),
    ...made.missing_streams.map(({ stream, path, problem }) => [
      "without",
      `${stream}: ${path} ${problem}`,
    ]),
  ];
  return [
    `${made.connector_id} ${made.version} is ${made.changed ? "added again, with other code" : "added"}`,
    ...facts.map(([name = "", fact = ""]) => `  ${name.padEnd(8)} ${printable(fact, 600)}`),
  ].join("\n");
}

type Added = OperatorData<"connector.list_added">["connectors"];

function describeAdded(connectors: Added): string {
  if (connectors.length === 0) return "no connector was added: svc connectors add";
  const problems = connectors.flatMap(({ connector_id, problem }) =>
    problem === null ? [] : [`\n${connector_id}: ${printable(problem, 600)}`],
  );
  return [tableOf(connectors), ...problems].join("\n");
}

function tableOf(connectors: Added): string {
  const stateOf = ({ removed, problem }: (typeof connectors)[number]) =>
    removed ? "removed" : problem === null ? "ready" : "cannot run";
  return formatTable(
    ["connector", "version", "state", "sandbox", "from", "place", "digest"],
    connectors.map((one) => [
      one.connector_id,
      one.version,
      stateOf(one),
      one.sandbox,
      one.origin,
      one.place,
      one.digest.slice(0, 19),
    ]),
  );
}

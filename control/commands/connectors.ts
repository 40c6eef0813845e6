/**
 * `svc connectors`: those that come with svc, and whether new sources may use them; and those of
 * the operator's own: `add`, `remove`, `list`, `digest`.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type CommandBuilder,
  ConnectorError,
  formatTable,
  listConnectors,
  oneOf,
  pinnedSandboxes,
  printable,
  readConnectorCode,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import { moduleAt, noPackage, toPlace } from "../connectors/places.ts";
import type { OperatorData } from "../operator/operator.ts";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, locate, openOperator } from "./instance.ts";

const ownArgument = "the path of a module or of its folder, or the name of an installed package";

export const buildConnectors: CommandBuilder = (command, terminal) => {
  const { out } = terminal;
  command.action(() => listConnectors(terminal));
  addInstanceOptions(command.command("list"))
    .description("show those that were added, and whether they can run here")
    .action(
      failingInOneLine(terminal, async (options) => {
        await using operator = await openOperator(terminal, options);
        const { connectors } = await operator.run("connector.list_added", {});
        if (connectors.length === 0) return out.line("no connector was added: svc connectors add");
        await out.line(tableOf(connectors));
        for (const { connector_id, problem } of connectors)
          if (problem !== null) await out.line(`\n${connector_id}: ${printable(problem, 600)}`);
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
    .addHelpText("after", "\nExample: svc connectors add ./helpdesk")
    .action(
      failingInOneLine(terminal, async (connector, { sandbox, digest, ...options }) => {
        await using operator = await openOperator(terminal, options);
        const body = { ...namedPlace(connector, terminal), sandbox, digest };
        const made = await operator.run("connector.add", { body });
        await out.line(
          `${made.connector_id} ${made.version} is ${made.changed ? "added again, with other code" : "added"}`,
        );
        const facts = [
          ["reaches", made.reaches.join(", ")],
          ["secrets", made.secret_fields.join(", ") || "none"],
          ["sandbox", made.sandbox],
          ["digest", made.digest],
        ];
        for (const [name = "", fact = ""] of facts)
          await out.line(`  ${name.padEnd(8)} ${printable(fact, 600)}`);
      }),
    );
  addInstanceOptions(command.command("remove"))
    .description("take one away that was added; what was made with it is kept and does not run")
    .argument("<id>", "conn_…; svc connectors list shows them")
    .action(
      failingInOneLine(terminal, async (connector, options) => {
        await using operator = await openOperator(terminal, options);
        const { connector_id } = await operator.run("connector.remove", { body: { connector } });
        await out.line(
          `${connector_id} is removed: what was made with it is kept, and runs no more`,
        );
      }),
    );
  addInstanceOptions(command.command("digest"))
    .description("show the digest of a connector's code, for connectors: in the settings")
    .argument("<connector>", ownArgument)
    .action(
      failingInOneLine(terminal, async (connector, options) => {
        const { settings } = await locate(terminal, options);
        const place = toPlace(namedPlace(connector, terminal), settings.folder);
        const { url } = await moduleAt(place, settings.folder).catch((error: unknown) => {
          const isMissing = error instanceof ConnectorError && place.kind === "package";
          throw isMissing ? new UsageError(noPackage) : error;
        });
        await out.line((await readConnectorCode(url)).digest);
      }),
    );
  for (const verb of ["enable", "disable"] as const)
    addInstanceOptions(command.command(verb))
      .description(verb === "enable" ? "open one for new sources" : "close one for new sources")
      .argument("<connector>", `the connector to ${verb}; svc connectors lists them`)
      .action(
        failingInOneLine(terminal, async (connector, options) => {
          await using operator = await openOperator(terminal, options);
          const { connector_id, enabled } = await operator.run("connector.set", {
            body: { connector, enabled: verb === "enable" },
          });
          await out.line(
            enabled
              ? `${connector_id} is enabled`
              : `${connector_id} is disabled: what exists stays, nothing new begins`,
          );
        }),
      );
};

/** @throws UsageError */
function namedPlace(connector: string, { cwd }: Pick<Terminal, "cwd">) {
  if (!/^[./~]|^file:|\.[cm]?[jt]s$/.test(connector)) return { package: connector };
  const path = resolve(cwd, connector);
  if (existsSync(path)) return { path };
  throw new UsageError(`there is nothing at "${printable(connector, 300)}"`);
}

function tableOf(connectors: OperatorData<"connector.list_added">["connectors"]): string {
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

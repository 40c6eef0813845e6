/**
 * Lists that are made from the connectors' cards besides the registry: README's tables, and the
 * executables in package.json. Both show what is `beta` or `ga`.
 */
import { relative } from "node:path";
import {
  type BuiltInConnector,
  builtInDestinations,
  builtInSources,
  packageRoot,
} from "svc-connectors/host";

const isShown = ({ stage }: BuiltInConnector) => stage !== "alpha";

/** README with the tables of today's cards between its markers. */
export function renderConnectorTables(readme: string): string {
  const tables = {
    sources: renderTable("source", "what it reads", builtInSources),
    destinations: renderTable("destination", "where rows go", builtInDestinations),
  };
  return Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}${table}${end}`,
      ),
    readme,
  );
}

function renderTable(kind: string, what: string, connectors: readonly BuiltInConnector[]): string {
  const rows = connectors.filter(isShown).map(({ name, folder, title, summary, id }) => {
    const page = relative(packageRoot, `${folder}/README.md`);
    return `| [\`${name}\`](${page}) | ${title}: ${summary} | \`${id}\` |\n`;
  });
  return `\n| ${kind} | ${what} | |\n|---|---|---|\n${rows.join("")}\n`;
}

/** package.json with an executable for each source: copies of `bin/source`, made by the build. */
export function renderExecutables(packageJson: string): string {
  const sources = builtInSources
    .filter(isShown)
    .map(({ name }) => [`source-${name}`, `dist/bin/source-${name}`]);
  const bin = { svc: "bin/svc", "svc-node": "bin/svc", ...Object.fromEntries(sources) };
  return `${JSON.stringify({ ...JSON.parse(packageJson), bin }, null, 2)}\n`;
}

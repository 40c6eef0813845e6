/** The page of types, made of what arrived in a test with a real PostgreSQL. */
import { placeNames } from "../tests/exact-types-places.ts";
import type { Cell, ReportedCase, TypesReport } from "../tests/exact-types-report.ts";

const intro = `# What becomes of PostgreSQL's types

What arrives in each place when \`svc\` reads PostgreSQL: into a DuckDB file, another PostgreSQL, \`--out x.parquet\`, \`--out x.arrow\` and JSON lines.
This page is what a test found with a real server; \`UPDATE_DOCS=1 npx vitest run tests/exact-types.slow.test.ts\` writes it anew.

The first row of each type says which type it has there; the others show values. \`=\` is the same text as PostgreSQL shows; another text stands there as it is, and
is the same value unless a number leads to a note below. A value that a place cannot hold is \`null\`, and the row's \`_svc_meta\` names it.
`;

export function renderTypesPage({ families, reasons }: TypesReport): string {
  const sections = families.map(({ title, cases }) =>
    [`## ${title}`, "", head, ...cases.flatMap(renderCase)].join("\n"),
  );
  const notes = ["## Notes", "", ...reasons.map((text, index) => `${index + 1}. ${text}`)];
  return `${[intro, ...sections.map((section) => `${section}\n`), notes.join("\n")].join("\n")}\n`;
}

const head = [
  `| | ${placeNames.join(" | ")} |`,
  `|---|${placeNames.map(() => "---|").join("")}`,
].join("\n");

function renderCase({ about, types, rows }: ReportedCase): string[] {
  const name = `**${code(about.type)}**${about.about === undefined ? "" : `, ${about.about}`}`;
  return [
    line(
      name,
      types.map((cell) =>
        withNotes(cell.text === "" ? "–" : cell.text.replaceAll("<", "\\<"), cell),
      ),
    ),
    ...rows.map(({ value, cells }) =>
      line(
        code(value),
        cells.map((cell) => withNotes(shownAs(cell), cell)),
      ),
    ),
  ];
}

const line = (first: string, cells: readonly string[]) => `| ${[first, ...cells].join(" | ")} |`;

const shownAs = ({ text, isAsIs }: Cell) => (isAsIs ? "=" : text === "null" ? "null" : code(text));

const withNotes = (text: string, { notes }: Cell) =>
  notes.length === 0 ? text : `${text} <sup>${notes.join(", ")}</sup>`;

/** Control characters would end the row of the table. */
function code(text: string): string {
  const shown = text.replace(/[\t\n\r]/g, (found) => JSON.stringify(found).slice(1, -1));
  return shown === "" ? "(empty)" : `\`${shown.replaceAll("|", "\\|")}\``;
}

/** The lists in docs/security.md that are made from the code. */
import { type BudgetRow, budgets } from "../runtime/contract/budgets.ts";
import { foldedEscapes } from "../runtime/filter/escapes.ts";
import { encodingNames } from "../runtime/filter/secret-views.ts";

/** The page with its generated lists renewed. */
export function renderSecurityPage(page: string): string {
  const escapes = foldedEscapes.map((one) => `- ${one}`).join("\n");
  const lists = [
    `Encodings, each of the whole secret: ${encodingNames.join(" · ")}.`,
    `Escapes, of some characters or all, one in another up to four kinds deep and mixed:\n${escapes}`,
  ];
  return renew(renew(page, "encodings", lists.join("\n\n")), "budgets", renderBudgets());
}

/** The page with another text between the marks of that name. */
const renew = (page: string, name: string, text: string) =>
  page.replace(
    new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`),
    (_, start: string, end: string) => `${start}\n${text}\n\n${end}`,
  );

function renderBudgets(): string {
  const rows = Object.values<BudgetRow>(budgets).map(
    ({ what, bytes, together, values, depth, count, seconds, beyond }) => {
      const limits = [
        bytes && sizeOf(bytes),
        together && `${sizeOf(together)} together`,
        values && `${values.toLocaleString("en")} values`,
        depth && `${depth} levels`,
        count && `${count[0].toLocaleString("en")} ${count[1]}`,
        seconds && `${seconds} s`,
      ];
      return `| ${what} | ${limits.filter(Boolean).join(", ")} | ${beyond} |`;
    },
  );
  return ["| what | at most | beyond it |", "|---|---|---|", ...rows].join("\n");
}

const sizeOf = (bytes: number) =>
  bytes >= 1024 ** 2 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024} KiB`;

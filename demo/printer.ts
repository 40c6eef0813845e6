import type { Terminal } from "svc-connectors/host";

/** How the demo talks. */
export interface Printer {
  heading(text: string): Promise<void>;
  /** A sentence between the steps. */
  note(text: string): Promise<void>;
  line(text: string): Promise<void>;
  /** What a step has shown. */
  fact(text: string): Promise<void>;
  table(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
}

export function createPrinter({ out, isTTY }: Pick<Terminal, "out" | "isTTY">): Printer {
  const styled = (code: number, text: string) => (isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = (text: string) => out.line(`  ${text}`);
  return {
    heading: (text) => out.line(`\n${styled(1, text)}`),
    note: (text) => out.line(`\n  ${styled(3, text)}`),
    line,
    fact: (text) => out.line(styled(2, `           ${text}`)),
    async table(rows) {
      const names = Object.keys(rows[0] ?? {});
      const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)));
      const toLine = (cells: readonly unknown[]) =>
        `│ ${cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(" │ ")} │`;
      await line(toLine(names));
      await line(`├─${widths.map((width) => "─".repeat(width)).join("─┼─")}─┤`);
      for (const row of rows) await line(toLine(names.map((name) => row[name])));
    },
  };
}

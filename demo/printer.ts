import type { Terminal } from "svc-connectors/host";

/** Prints the demo's steps. */
export interface Printer {
  heading(text: string): Promise<void>;
  /** A sentence between the steps. */
  note(text: string): Promise<void>;
  line(text: string): Promise<void>;
  /** A result of a step. */
  fact(text: string): Promise<void>;
  table(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
}

/** @throws AbortError on each call once the signal has come: so the demo ends where it is */
export function createPrinter({
  out,
  isTTY,
  signal,
}: Pick<Terminal, "out" | "isTTY" | "signal">): Printer {
  const styled = (code: number, text: string) => (isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
  const show = async (text: string) => {
    signal.throwIfAborted();
    await out.line(text);
  };
  const line = (text: string) => show(`  ${text}`);
  return {
    heading: (text) => show(`\n${styled(1, text)}`),
    note: (text) => show(`\n  ${styled(3, text)}`),
    line,
    fact: (text) => show(styled(2, `           ${text}`)),
    async table(rows) {
      const names = Object.keys(rows[0] ?? {});
      const widths = names.map((name) =>
        Math.max(name.length, ...rows.map((row) => String(row[name]).length)),
      );
      const toLine = (cells: readonly unknown[]) =>
        `│ ${cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(" │ ")} │`;
      await line(toLine(names));
      await line(`├─${widths.map((width) => "─".repeat(width)).join("─┼─")}─┤`);
      for (const row of rows) await line(toLine(names.map((name) => row[name])));
    },
  };
}

/** Source text as static rules read it: without its comments. */

export interface CodeLine {
  /** From 1. */
  readonly number: number;
  readonly line: string;
}

/** Text in quotes, or a comment: whichever begins first. A quoted text is kept. */
const quotedOrComment =
  /(["'])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\.|[^\\`])*`|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|(?<=^|\n)\s*#[^\n]*/g;

/** Lines of code; comments of the C family and of scripts are blank. */
export function codeLines(text: string): CodeLine[] {
  const code = text.replaceAll(quotedOrComment, (found) =>
    /^["'`]/.test(found) ? found : found.replaceAll(/[^\n]/g, " "),
  );
  return code.split("\n").map((line, index) => ({ number: index + 1, line }));
}

import type { CompletionNode } from "./completion.ts";

/** A text as one word of a POSIX shell. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The flags behind which a value stands. A flag takes one in every command that has it. */
export const valuedFlags = (nodes: readonly CompletionNode[]): readonly string[] => [
  ...new Set(
    nodes.flatMap(({ flags }) =>
      flags.filter(({ takesValue }) => takesValue).map(({ name }) => name),
    ),
  ),
];

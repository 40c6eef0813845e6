import type { CompletionNode } from "./completion.ts";
import { valuedFlags } from "./completion-words.ts";

/** One line for each command and flag, as fish wants it. */
export function writeFishCompletion(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap(({ path, commands, flags, words, takesFiles }) => {
    const condition = `complete -c svc -n ${quote(`__svc_at ${quote(path)}`)}`;
    return [
      ...commands.map(({ name, summary }) => `${condition} -a ${quote(name)} -d ${quote(summary)}`),
      ...(words.length > 0 ? [`${condition} -a ${quote(words.join(" "))}`] : []),
      ...(takesFiles ? [`${condition} -F`] : []),
      ...flags.map(({ name, summary, takesValue, takesFiles: isFile, values }) => {
        const value = takesValue ? (isFile ? " -r -F" : " -x") : "";
        const choices = values.length > 0 ? ` -a ${quote(values.join(" "))}` : "";
        return `${condition} -l ${name.slice(2)}${value}${choices} -d ${quote(summary)}`;
      }),
    ];
  });
  return `# fish completion of svc, as svc completion fish wrote it.

# Tells whether the words before the cursor are of this command.
function __svc_at
    set -l at
    set -l flag
    for word in (commandline -opc)[2..]
        if test -n "$flag"
            set flag
        else if string match -q -- '--*' $word
            contains -- $word ${valuedFlags(nodes).join(" ")}; and set flag $word
        else if contains -- (string join ' ' $at $word) ${nodes.map(({ path }) => quote(path)).join(" ")}
            set -a at $word
        end
    end
    test "$at" = "$argv[1]"
end

complete -c svc -f
${lines.join("\n")}
`;
}

/** In quotes fish knows two escapes. */
const quote = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;

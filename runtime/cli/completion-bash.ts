import type { CompletionNode } from "./completion.ts";
import { quote, valuedFlags } from "./completion-words.ts";

/** Works in bash 3.2, which macOS has, and without the package bash-completion. */
export function writeBashCompletion(nodes: readonly CompletionNode[]): string {
  const cases = nodes.map(
    ({ path, commands, flags, words, takesFiles }) =>
      `    ${quote(path)}) commands=${list(commands.map(({ name }) => name))} flags=${list(flags.map(({ name }) => name))} words=${list(words)} files=${takesFiles ? 1 : ""} ;;`,
  );
  const values = nodes.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ name, values: some, takesFiles }) =>
          `    ${quote(`${path} ${name}`)}) words=${list(some)} files=${takesFiles ? 1 : ""} ;;`,
      ),
  );
  return `# bash completion of svc, as svc completion bash wrote it.

_svc_node() {
  case $1 in
${cases.join("\n")}
  esac
}

_svc_value() {
  words='' files=''
  case "$1 $2" in
${values.join("\n")}
  esac
}

_svc() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]} at='' flag='' i word line
  local commands flags words files valued=${list(valuedFlags(nodes))}
  COMPREPLY=()
  _svc_node ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $flag ]]; then
      flag=''
    elif [[ $word == --* ]]; then
      if [[ " $valued " == *" $word "* ]]; then flag=$word; fi
    elif [[ " $commands " == *" $word "* ]]; then
      at=\${at:+$at }$word
      _svc_node "$at"
    fi
  done
  if [[ $cur == '=' ]]; then cur=''; fi
  if [[ -n $flag ]]; then
    commands=''
    _svc_value "$at" "$flag"
  elif [[ $cur == -* ]]; then
    commands='' words=$flags files=''
  fi
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(
    compgen -W "$commands $words" -- "$cur"
    if [[ -n $files ]]; then compgen -f -- "$cur"; fi
  )
  if [[ -n $files ]]; then compopt -o filenames 2> /dev/null; fi
  return 0
}

complete -F _svc svc
`;
}

const list = (words: readonly string[]) => quote(words.join(" "));

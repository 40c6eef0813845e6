import type { CompletionNode } from "./completion.ts";
import { quote, valuedFlags } from "./completion-words.ts";

/** Works from a folder of `fpath`, and when it is sourced after compinit. */
export function writeZshCompletion(nodes: readonly CompletionNode[]): string {
  const cases = nodes.map(
    ({ path, commands, flags, words, takesFiles }) => `    ${quote(path)})
      commands=(${commands.map(({ name, summary }) => described(name, summary)).join(" ")})
      flags=(${flags.map(({ name, summary }) => described(name, summary)).join(" ")})
      names=(${words.map(quote).join(" ")})
      files=${takesFiles ? 1 : "''"} ;;`,
  );
  const values = nodes.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ name, values: some, takesFiles }) =>
          `    ${quote(`${path} ${name}`)}) names=(${some.map(quote).join(" ")}) files=${takesFiles ? 1 : "''"} ;;`,
      ),
  );
  return `#compdef svc
# zsh completion of svc, as svc completion zsh wrote it.

_svc_node() {
  case $1 in
${cases.join("\n")}
  esac
}

_svc_value() {
  names=() files=''
  case "$1 $2" in
${values.join("\n")}
  esac
}

_svc() {
  local at='' flag='' word='' files=''
  local -a commands flags names valued
  local -i i
  valued=(${valuedFlags(nodes).map(quote).join(" ")})
  _svc_node ''
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == --* ]]; then
      if (( $valued[(Ie)$word] )); then flag=$word; fi
    elif (( $commands[(I)\${(b)word}:*] )); then
      at="\${at:+$at }$word"
      _svc_node "$at"
    fi
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    commands=()
    _svc_value "$at" "$flag"
  elif [[ $PREFIX == -* ]]; then
    _describe -o flag flags
    return
  fi
  if (( $#commands )); then _describe command commands; fi
  if (( $#names )); then compadd -a names; fi
  if [[ -n $files ]]; then _files; fi
}

if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;
}

/** A word with what it means, as _describe takes them. */
const described = (name: string, summary: string) =>
  quote(`${name.replaceAll(":", "\\:")}:${summary}`);

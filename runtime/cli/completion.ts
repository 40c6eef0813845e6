/**
 * `svc completion bash|zsh|fish`: a script that completes svc's commands, flags and their values.
 * It is made from the tree that parses the command line, and runs nothing of svc while one types.
 */
import type { Argument, Command, CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { builtInDestinations, builtInSources } from "../host/registry.ts";
import { writeBashCompletion } from "./completion-bash.ts";
import { writeFishCompletion } from "./completion-fish.ts";
import { writeZshCompletion } from "./completion-zsh.ts";
import { allowedOf } from "./options.ts";
import type { CommandBuilder } from "./program.ts";
import { UsageError } from "./usage.ts";

/** The words and flags that may stand behind those of a command. */
export interface CompletionNode {
  /** The command's words without `svc`; empty for svc itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly flags: readonly CompletionFlag[];
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

export interface CompletionFlag {
  /** With its dashes: `--config`. */
  readonly name: string;
  readonly summary: string;
  readonly takesValue: boolean;
  readonly takesFiles: boolean;
  /** The values of a closed list. */
  readonly values: readonly string[];
}

const writers = {
  bash: writeBashCompletion,
  zsh: writeZshCompletion,
  fish: writeFishCompletion,
} as const satisfies Record<string, (nodes: readonly CompletionNode[]) => string>;
const shells = Object.keys(writers) as (keyof typeof writers)[];

/** @param loadTree gives the whole program, with every command loaded */
export const createCompletion =
  (loadTree: () => Promise<Command>): CommandBuilder =>
  (command, terminal) => {
    command
      .argument("<shell>", `the shell: ${shells.join(", ")}`)
      .addHelpText(
        "after",
        `
Where shells look for it:
    svc completion bash > ~/.local/share/bash-completion/completions/svc
    svc completion zsh > ~/.zfunc/_svc        # with fpath+=~/.zfunc before compinit in ~/.zshrc
    svc completion fish > ~/.config/fish/completions/svc.fish`,
      )
      .action(async (name) => {
        const shell = shells.find((one) => one === name);
        if (!shell) throw new UsageError(`the shell must be one of ${shells.join(", ")}`);
        await terminal.out.write(writers[shell](describeTree(await loadTree())));
      });
  };

/** The nodes of a program, each before those below it. */
export function describeTree(
  command: CommandUnknownOpts,
  path = "",
  siblings: readonly string[] = [],
): readonly CompletionNode[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command);
  const names = children.map((child) => child.name());
  const files = command.registeredArguments.some((argument) => isPlace(argument.name()));
  const node: CompletionNode = {
    path,
    commands: children.map((child) => ({ name: child.name(), summary: child.description() })),
    flags: help.visibleOptions(command).flatMap(describeFlag),
    words: command.registeredArguments.flatMap((argument) => wordsOf(argument, path, siblings)),
    takesFiles: files,
  };
  return [
    node,
    ...children.flatMap((child) =>
      describeTree(child, path === "" ? child.name() : `${path} ${child.name()}`, names),
    ),
  ];
}

function describeFlag(option: Option): CompletionFlag[] {
  const { long } = option;
  if (!long) return [];
  const [, placeholder = ""] = /<(.+)>/.exec(option.flags) ?? [];
  return [
    {
      name: long,
      summary: option.description,
      takesValue: option.required,
      takesFiles: isPlace(placeholder),
      values: allowedOf(option.parseArg),
    },
  ];
}

/** Placeholders of flags, and arguments, that name something on disk. */
const isPlace = (name: string) => /^(FILE|DIR|FOLDER|PLACE|file|connector)$/.test(name);

function wordsOf(argument: Argument, path: string, siblings: readonly string[]): readonly string[] {
  const name = argument.name();
  if (name === "connector") return connectorsOf(path);
  if (name === "shell") return shells;
  // Of `svc help`: the commands beside it.
  if (name === "command") return siblings.filter((one) => one !== "help");
  return name === "verb" ? argument.description.split(", ") : [];
}

/** The connectors that come with svc, where a command takes them. */
function connectorsOf(path: string): readonly string[] {
  const sources = builtInSources.map(({ name }) => name);
  if (/^connectors (add|digest)$/.test(path)) return [];
  const isForAll = /^(conformance|connectors|spec)\b/.test(path);
  return isForAll ? [...sources, ...builtInDestinations.map(({ name }) => name)] : sources;
}

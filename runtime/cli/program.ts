/**
 * The program as commander parses it. Here is what svc adds: errors in one line that name a flag
 * but never show its value, flags that stand once, commands that are loaded when they are used.
 */
import { Command, type CommandUnknownOpts, type Option } from "@commander-js/extra-typings";
import { packageVersion } from "../host/version.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** Adds arguments, options and the action to a command that has its name and summary already. */
export type CommandBuilder = (command: Command, terminal: Terminal) => void;

/** A command of svc: one line for the overview, and its code, loaded when somebody uses it. */
export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandBuilder>;
  /** The same command for a line without a subcommand, where that takes far less to load. */
  readonly loadAlone?: (() => Promise<CommandBuilder>) | undefined;
}
export type Commands = { readonly [name: string]: CommandEntry };

/**
 * Runs one command line; the action notes its exit code in the terminal.
 * @throws UsageError and whatever an action throws
 */
export async function runProgram(
  commands: Commands,
  argv: readonly string[],
  terminal: Terminal,
): Promise<void> {
  let shown = "";
  const words = normalize(argv);
  const used = words[0] === "help" ? words[1] : words[0];
  const isAlone = words[0] === used && words.slice(1).every((word) => word === "--json");
  const program = await buildProgram(
    commands,
    terminal,
    (name, { load, loadAlone = load }) =>
      name === used ? (isAlone ? loadAlone : load) : undefined,
    (text) => {
      shown += text;
    },
  );
  checkValues(program, argv);
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!isShown(error)) throw error;
    await terminal.out.write(shown);
  }
}

/**
 * The program with all its commands. Those that `choose` gives the loading of get their flags and
 * their action; of the others there is only the summary.
 * @param show takes help and the version
 */
export async function buildProgram(
  commands: Commands,
  terminal: Terminal,
  choose: (name: string, entry: CommandEntry) => CommandEntry["load"] | undefined,
  show: (text: string) => void = () => {},
): Promise<Command> {
  const program = createProgram(show, terminal.columns);
  for (const [name, entry] of Object.entries(commands)) {
    const command = program.command(name).description(entry.summary);
    const load = choose(name, entry);
    if (load) (await load())(command, terminal);
  }
  return program;
}

/** An empty command line asks for the overview; `svc --version` and `svc -v` are `svc version`. */
function normalize(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  return /^(-v|-V|--version)$/.test(first) ? ["version", ...rest] : argv;
}

const createProgram = (show: (text: string) => void, columns = 80): Command =>
  new Program("svc")
    .description("svc reads from applications and databases through sandboxed connectors.")
    .usage("<command>")
    .version(packageVersion, "-V, --version", "show the version")
    .helpOption("-h, --help", "show this")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText("after", "\nsvc <command> --help tells more.")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: show, writeErr: () => {}, getOutHelpWidth: () => columns })
    .configureHelp({ optionTerm: withoutBrackets, subcommandTerm: termOf });

/** `--config FILE`, as messages write it too. */
const withoutBrackets = ({ flags }: Pick<Option, "flags">) => flags.replace(/[<>]/g, "");

const termOf = (command: CommandUnknownOpts) =>
  [
    command.name(),
    ...command.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    ),
  ].join(" ");

/** Help or the version was asked for, and is written. */
const isShown = (error: unknown): boolean => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^commander\.(help|helpDisplayed|version)$/.test(code);
};

class Program extends Command {
  override createCommand(name?: string): Command {
    return new Program(name);
  }

  /** Commander's own text may hold what was typed as a value: only its code is used. */
  override error(message: string, { code = "" }: { readonly code?: string } = {}): never {
    throw new UsageError(describe(this, code, message));
  }

  override help(context?: unknown): never {
    if (isForError(context)) throw new UsageError(describe(this, "commander.unknownCommand", ""));
    return super.help();
  }
}

const isForError = (context: unknown): boolean =>
  typeof context === "object" && context !== null && "error" in context && context.error === true;

function describe(command: Command, code: string, message: string): string {
  const { args, registeredArguments: expected, parent } = command;
  switch (code) {
    case "commander.unknownCommand":
      return parent ? whatToDo(command, args[0] ?? "") : unknownCommand(command);
    case "commander.unknownOption": {
      const flag = flagOf(message);
      if (command.options.some(({ long }) => long === flag)) return `${flag} takes no value`;
      const near = suggestion(flag.replace(/^-+/, ""), flagNames(command));
      return `unknown flag ${printable(flag)}${near}`;
    }
    case "commander.optionMissingArgument": {
      const [flags = ""] = /(?<=')--[^']*/.exec(message) ?? [];
      return needsValue({ flags });
    }
    case "commander.missingArgument": {
      const missing = expected.find(({ required }, index) => required && args[index] === undefined);
      return `name ${missing?.description}`;
    }
    case "commander.excessArguments": {
      const last = expected.length === 0 ? command.name() : args[expected.length - 1];
      const word = args[expected.length] ?? "";
      const near = suggestion(word, namesOf(command));
      return `unexpected "${printable(word)}"${near || ` after ${printable(last ?? "")}`}`;
    }
    default:
      return "the command line cannot be understood; see --help";
  }
}

const whatToDo = (command: Command, word: string) =>
  `say what to do: ${namesOf(command).join(", ")}${suggestion(word, namesOf(command))}`;

function unknownCommand(program: Command): string {
  const [first = "", second = ""] = program.args;
  const word = first === "help" ? second : first;
  const near = suggestion(word, namesOf(program)) || "; see svc --help";
  return `unknown command "${printable(word)}"${near}`;
}

const namesOf = ({ commands }: CommandUnknownOpts) => commands.map((command) => command.name());

const flagNames = (command: CommandUnknownOpts) => [
  ...command.options.map((option) => option.name()),
  "help",
];

/** The flag without its value, of a message about `--flag=value` or `-fvalue`. */
function flagOf(message: string): string {
  const [typed = ""] = /(?<=')-.*/s.exec(message) ?? [];
  return typed.startsWith("--") ? (/^--[^=']*/.exec(typed)?.[0] ?? "--") : typed.slice(0, 2);
}

const needsValue = (option: Pick<Option, "flags">) => {
  const flags = withoutBrackets(option);
  return `${flags.split(" ")[0]} needs a value: ${flags}`;
};

/**
 * Makes the flags of a command and of its subcommands refuse to stand twice, and to take an empty
 * text or the next flag for their value.
 */
function checkValues(command: CommandUnknownOpts, argv: readonly string[]): void {
  for (const option of command.options) {
    const name = option.name();
    let isGiven = false;
    command.on(`option:${name}`, (value?: string) => {
      // An option that begins as an empty list is given as often as one likes.
      const isList = option.defaultValue instanceof Map || Array.isArray(option.defaultValue);
      if (isGiven && !isList) throw new UsageError(`--${name} is given twice`);
      isGiven = true;
      // "--config --catalog x": the next flag is not the value.
      const isFlag = value?.startsWith("--") && !argv.includes(`--${name}=${value}`);
      if (option.required && (value === "" || isFlag)) throw new UsageError(needsValue(option));
    });
  }
  for (const subcommand of command.commands) checkValues(subcommand, argv);
}

/** The scripts that `svc completion` writes, in the shells themselves. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as conformance from "svc-connectors/conformance";
import * as control from "svc-connectors/control";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsOf, runCommand } from "./command.ts";

const run = promisify(execFile);
const isThere = (shell: string) => {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const commands = commandsOf(conformance, control);

/** Completion tells what it offers instead of drawing it. */
const zshTerminal = `
autoload -Uz compinit && compinit -D -u
source ./svc.zsh
compadd() {
  if (( \${argv[(I)-[OAD]]} )); then builtin compadd "$@"; return; fi
  local -a found
  builtin compadd -O found "$@"
  print -rl -- \${found/#/offered:}
}
PROMPT='ready> '
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-completion-"));
  await writeFile(join(folder, "my db.yaml"), "");
  await writeFile(join(folder, "terminal.zsh"), zshTerminal);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await svc("completion", shell);
    expect(code).toBe(0);
    await writeFile(join(folder, `svc.${shell}`), stdout);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const svc = (...argv: string[]) => runCommand(argv, { cwd: folder, commands });

const options = () => ({ cwd: folder, timeout: 300_000 });

/** The completions at the end of the line, by shell. */
const shells: Readonly<Record<string, (line: string) => Promise<readonly string[]>>> = {
  async bash(line) {
    // As readline splits it: a value behind = is a word of its own.
    const words = line.split(/ |(=)/).filter((word) => word !== undefined);
    const script = `source svc.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["--norc", "-uc", script, "bash", ...words], {
      cwd: folder,
    });
    return stdout.split("\n").filter((word) => word !== "");
  },
  async zsh(line) {
    // A terminal of its own, in which completion lists what it has.
    const script = `zmodload zsh/zpty
      await() { local text; zpty -r -m shell text "*$1*"; print -r -- "$text" }
      zpty shell zsh -f -i
      zpty -w shell "source ./terminal.zsh"
      await ready'> ' > /dev/null
      zpty -w -n shell "$1"$'\t'
      zpty -w shell $'\x15print do''ne'
      await done
      zpty -d shell`;
    const { stdout } = await run("zsh", ["-fc", script, "zsh", line], options());
    return [...stdout.matchAll(/offered:([^\r\n]+)/g)].map(([, word = ""]) => word);
  },
  async fish(line) {
    const script = `source svc.fish; complete -C ${JSON.stringify(line)}`;
    const { stdout } = await run("fish", ["--no-config", "-c", script], options());
    return stdout.split("\n").flatMap((row) => (row === "" ? [] : [row.split("\t")[0] ?? ""]));
  },
};

const reason = (shell: string) => (isThere(shell) ? "" : " (skipped: it is not installed)");

describe.each(
  Object.entries(shells).map(([shell, offers]) => ({ name: shell + reason(shell), shell, offers })),
)("in $name", ({ shell, offers }) => {
  test.skipIf(!isThere(shell)).each<[string, readonly string[]]>([
    ["svc disc", ["discover"]],
    ["svc jobs ", ["cancel", "help", "list", "watch"]],
    ["svc jobs list --st", ["--status"]],
    ["svc jobs list --status ca", ["cancelled"]],
    ["svc jobs list --status=ca", ["cancelled"]],
    ["svc read post", ["postgres"]],
    ["svc read postgres --config x --in", ["--incremental"]],
    ["svc read --config jobs --al", ["--allow-host", "--allow-local"]],
    ["svc read postgres --config my", ["my db.yaml"]],
    ["svc help dis", ["discover"]],
    ["svc completion z", ["zsh"]],
    ["svc run mailer disc", ["discover"]],
  ])("%s is completed", async (line, words) => {
    const found = await offers(line);
    const plain = found.map((word) => word.replace(/^--status=/, "").replaceAll("\\ ", " "));
    expect(plain.sort()).toEqual(words);
  });
});

test("every command and flag that the help shows is in the script", async () => {
  const { stdout: script } = await svc("completion", "bash");
  for (const name of ["", ...Object.keys(commands)]) {
    const { stdout: help } = await svc(...(name === "" ? ["--help"] : [name, "--help"]));
    for (const [, flag] of help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm))
      expect(script).toContain(flag);
  }
});

test("another shell is refused, and the help says where each looks", async () => {
  expect(await svc("completion", "tcsh")).toEqual({
    code: 2,
    stdout: "",
    stderr: "svc: the shell must be one of bash, zsh, fish\n",
  });
  expect((await svc("completion", "--help")).stdout).toContain("bash-completion/completions/svc");
});

test("a flag takes a value everywhere or nowhere, as the scripts assume", async () => {
  const { stdout: script } = await svc("completion", "fish");
  const takes = new Map<string, boolean>();
  for (const [, flag = "", value] of script.matchAll(/ -l (\S+)( -x| -r)?/g)) {
    const before = takes.get(flag) ?? value !== undefined;
    expect(`${flag} ${value !== undefined}`).toBe(`${flag} ${before}`);
    takes.set(flag, before);
  }
  expect(takes.size).toBeGreaterThan(20);
});

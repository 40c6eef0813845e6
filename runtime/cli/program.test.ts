import { execFile } from "node:child_process";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { systemClock } from "../host/clock.ts";
import { createHost } from "../host/create-host.ts";
import { main } from "./main.ts";
import { addSettingsOption, oneOf, wholeNumber } from "./options.ts";
import type { CommandBuilder, Commands } from "./program.ts";

const secret = "hunter2-Zq7-Secret";

/** Runs a command line of `svc` with one more command, `pick`, which shows what it was given. */
async function svc(...argv: string[]) {
  const texts = { out: "", err: "" };
  const loaded: string[] = [];
  const capture = (name: keyof typeof texts) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts[name] += chunk.toString();
        done();
      },
    });
  const buildPick: CommandBuilder = (command, terminal) => {
    addSettingsOption(command.command("fruit"))
      .description("pick a fruit")
      .argument("<kind>", "the fruit to pick")
      .option("--basket <NAME>", "where it goes")
      .option("--ripe", "only when it is ripe")
      .option("--count <N>", "at most", wholeNumber("count", 1, 9))
      .option("--size <SIZE>", "small or large", oneOf("size", ["small", "large"]))
      .action(async (kind, options) => {
        terminal.exitCode = 1;
        await terminal.out.line(JSON.stringify({ kind, ...options }));
      });
    command.command("nothing").action(() => undefined);
  };
  const more: Commands = {
    pick: {
      summary: "pick things",
      load: async () => {
        loaded.push("pick");
        return buildPick;
      },
    },
    unused: { summary: "never loaded", load: () => Promise.reject(new Error("was loaded")) },
  };
  const code = await main(
    argv,
    {
      stdout: capture("out"),
      stderr: capture("err"),
      createHost,
      clock: systemClock,
      cwd: ".",
      isTTY: false,
      onSignal: () => ({ [Symbol.dispose]: () => {} }),
    },
    more,
  );
  return { code, ...texts, loaded };
}

test("an action gets its words and values, and notes the exit code", async () => {
  expect(
    await svc("pick", "fruit", "--count", "3", "apple", "--ripe", "--size=small", "--basket=--x"),
  ).toEqual({
    code: 1,
    out: '{"kind":"apple","count":3,"ripe":true,"size":"small","basket":"--x"}\n',
    err: "",
    loaded: ["pick"],
  });
});

test.each([
  ["--version"],
  ["-V"],
  ["-v"],
  ["version"],
])("svc %s shows the version", async (word) => {
  expect(await svc(word)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    loaded: [],
  });
});

test.each([
  ["--version", /^\d+\.\d+\.\d+\n$/],
  ["--help", /^Usage: svc /],
  ["connectors", /^source +id +what it reads\n/],
  ["connectors --json", /^\{"sources":/],
])("svc %s loads no connector's host, no schema library and no other part of svc", async (line, shown) => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const hooks = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });`;
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=svc-source",
      "--import",
      `data:text/javascript,${encodeURIComponent(hooks)}`,
      "svc.ts",
      ...line.split(" "),
    ],
    { cwd: root },
  );
  expect(stdout).toMatch(shown);
  expect(stderr).toContain("runtime/cli/main.ts");
  const packages = stderr.match(/(?<=node_modules\/)(@[^/]+\/)?[^/]+/g);
  expect([...new Set(packages)].sort()).toEqual(["@commander-js/extra-typings", "commander"]);
  expect(stderr).not.toMatch(
    /create-host|\/control\/|\/conformance\/|\/demo\/|connectors\/sources/,
  );
});

describe("help", () => {
  test.each([
    [[]],
    [["--help"]],
    [["help"]],
  ])("svc %j is the overview, which loads nothing", async (argv) => {
    const { code, out, loaded } = await svc(...argv);
    expect({ code, loaded }).toEqual({ code: 0, loaded: [] });
    expect(out).toMatch(/^ {2}pick +pick things$/m);
    expect(out).toMatch(/^ {2}unused +never loaded$/m);
  });

  test.each([
    [["pick", "--help"]],
    [["pick", "-h"]],
    [["help", "pick"]],
  ])("svc %j lists the verbs", async (argv) => {
    const { code, out } = await svc(...argv);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: svc pick /);
    expect(out).toMatch(/^ {2}fruit <kind> +pick a fruit$/m);
  });

  test("of a verb lists its words and flags, whatever else stands there", async () => {
    const { code, out } = await svc("pick", "fruit", "--nonsense", "--help");
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}kind +the fruit to pick$/m);
    expect(out).toMatch(/^ {2}--basket NAME +where it goes$/m);
  });

  test.each([
    "spec",
    "config",
  ])("of svc %s has only flags that do something there", async (name) => {
    const { out } = await svc(name, "--help");
    const flags = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag]) => flag);
    expect(flags).toEqual(["--sandbox", ...(name === "spec" ? ["--json"] : []), "--help"]);
  });
});

test.each([
  ["duckdb", /^file +required; text$/m],
  ["files", /^partition_by +one of none, day, month/m],
  ["s3", /^bucket +required; text$/m],
])("svc spec %s shows the settings of the destination", async (name, setting) => {
  const { code, out } = await svc("spec", name);
  expect(code).toBe(0);
  expect(out).toMatch(setting);
});

test("svc spec alone names destinations beside sources", async () => {
  const { code, err } = await svc("spec");
  expect(code).toBe(2);
  expect(err).toMatch(/ mysql, postgres, .*; or a destination: duckdb, files, .*s3\n$/);
});

describe("a bad command line is one line, exit code 2, and shows no value of a flag", () => {
  test.each([
    [["pikc"], 'unknown command "pikc" (did you mean "pick"?)'],
    [["help", "pikc"], 'unknown command "pikc" (did you mean "pick"?)'],
    [["frobnicate"], 'unknown command "frobnicate"; see svc --help'],
    [["--token", secret], "unknown flag --token"],
    [[`--token=${secret}`], "unknown flag --token"],
    [["--verison"], 'unknown flag --verison (did you mean "version"?)'],
    [["pick"], "say what to do: fruit, nothing"],
    [["pick", "friut"], 'say what to do: fruit, nothing (did you mean "fruit"?)'],
    [["pick", `--token=${secret}`], "unknown flag --token"],
    [["pick", "fruit", "apple", `--token=${secret}`], "unknown flag --token"],
    [["pick", "fruit", "apple", `--token='${secret}'`], "unknown flag --token"],
    [["pick", "fruit", "apple", `-p${secret}`], "unknown flag -p"],
    [["pick", "fruit", "apple", "--password", secret], "unknown flag --password"],
    [
      ["pick", "fruit", "apple", "--baskte", secret],
      'unknown flag --baskte (did you mean "basket"?)',
    ],
    [["pick", "fruit", "apple", `--ripe=${secret}`], "--ripe takes no value"],
    [["pick", "fruit", "apple", "--count", secret], "--count must be a whole number from 1 to 9"],
    [["pick", "fruit", "apple", "--size", secret], "--size must be one of small, large"],
    [["pick", "fruit", "apple", "--basket"], "--basket needs a value: --basket NAME"],
    [["pick", "fruit", "apple", "--basket="], "--basket needs a value: --basket NAME"],
    [["pick", "fruit", "apple", "--basket", "--ripe"], "--basket needs a value: --basket NAME"],
    [["pick", "fruit", "apple", "--ripe", "--ripe"], "--ripe is given twice"],
    [["pick", "fruit", "apple", "--basket", "a", "--basket", secret], "--basket is given twice"],
    [["pick", "fruit"], "name the fruit to pick"],
    [["pick", "fruit", "apple", "pear"], 'unexpected "pear" after apple'],
    [["pick", "nothing", "now"], 'unexpected "now" after nothing'],
    [["pick", "nothing", "--basket", "x"], "unknown flag --basket"],
    ...["read", "check", "discover"].flatMap((verb): [string[], string][] => [
      [
        [verb],
        `${verb} needs a connector and its configuration: svc ${verb} <connector> --config FILE; svc connectors lists connectors, svc config <connector> writes a first configuration`,
      ],
      [
        [verb, "postgres"],
        `${verb} needs --config FILE; svc config postgres writes a first configuration`,
      ],
      [
        [verb, "postgress", "--config", "none.yaml"],
        'there is no connector "postgress" (did you mean "postgres"?)',
      ],
      [[verb, "postgress"], 'there is no connector "postgress" (did you mean "postgres"?)'],
      [
        [verb, "--config", "none.yaml"],
        "name a connector: bankdata, mailer, mysql, postgres, social, taskapp, the path of a module or of a declarative manifest, an installed package, or image:NAME",
      ],
      [[verb, "postgres", "--config", "none.yaml"], 'config file "none.yaml": does not exist'],
    ]),
    [["spec", "postgress"], 'there is no connector "postgress" (did you mean "postgres"?)'],
    [
      ["config", "duckdb"],
      "duckdb is a destination: svc spec duckdb shows its settings, and pipelines of the Control API write to it",
    ],
    [["spec", "postgres", "--memory", "100"], "unknown flag --memory"],
    [["spec", "postgres", "--settings", "x.yaml"], "unknown flag --settings"],
  ])("svc %j", async (argv, problem) => {
    expect(await svc(...argv)).toMatchObject({ code: 2, out: "", err: `svc: ${problem}\n` });
  });
});

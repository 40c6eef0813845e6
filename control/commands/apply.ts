/**
 * `svc apply`: makes a workspace what a file says, by the Control API. Exit codes are those of
 * terraform: 0 it is so, 1 it failed, and with --plan 2 there is something to do.
 */
import { dirname, resolve } from "node:path";
import {
  answer,
  type CommandBuilder,
  CommandFailed,
  exitCode,
  jsonFlag,
  printable,
  readText,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import { ApiError, createApi } from "../workspace-file/api.ts";
import { carryOut, type StepOutcome } from "../workspace-file/carry-out.ts";
import { documentOf } from "../workspace-file/document.ts";
import { takeInventory } from "../workspace-file/inventory.ts";
import { isChanging, planOf, type WorkspacePlan } from "../workspace-file/plan.ts";
import { FaultyFile, type ReadFile, readWorkspaceFile } from "../workspace-file/read.ts";
import {
  checkPlaces,
  checkSecretsOf,
  fetchSecrets,
  keepSecret,
  type SecretPlaces,
} from "../workspace-file/secrets.ts";
import { linesOf, titleOf } from "../workspace-file/show.ts";
import { type ApiValues, addApiOptions, apiAccess } from "./api-access.ts";
import { failingInOneLine } from "./failures.ts";

/** Exit code with --plan: the workspace is not as the file says. */
const thereAreChanges = 2;

interface ApplyValues extends ApiValues {
  readonly plan?: true | undefined;
  readonly prune?: true | undefined;
  readonly secrets?: true | undefined;
  readonly json?: true | undefined;
}

export const buildApply: CommandBuilder = (command, terminal) => {
  addApiOptions(command)
    .argument("<file>", "the file of the workspace, YAML or JSON; svc export writes one")
    .option("--plan", "show what would be done, and do nothing; exit code 2: there is something")
    .option("--prune", "delete what is not in the file, of the sections that the file has")
    .option("--secrets", "send the secrets of credentials that are there already, too")
    .option(...jsonFlag)
    .addHelpText(
      "after",
      `
Exit codes: 0 the workspace is as the file says; 1 something failed; 2 with --plan, there is something to do.

Example: svc apply workspace.yaml --server https://svc.example.com/control/v1 --token-file token.txt --plan`,
    )
    .action(
      failingInOneLine(async (file, options) => {
        try {
          await apply(file, options, terminal);
        } catch (error) {
          throw await explained(error, terminal);
        }
      }),
    );
};

async function apply(path: string, options: ApplyValues, terminal: Terminal): Promise<void> {
  const { cwd, clock, signal, out } = terminal;
  const file = await readWorkspaceFile(await readText(path, "workspace", cwd), path);
  const places = { folder: dirname(resolve(cwd, path)), env: process.env };
  const api = createApi({ ...(await apiAccess(terminal, options)), clock, signal });
  const pipelines = file.content.pipelines ?? {};
  const needed = new Set(
    Object.entries(pipelines).flatMap(([name, { renamed_from: former = name }]) => [name, former]),
  );
  const inventory = await takeInventory(api, file.content.workspace, (name) => needed.has(name));
  const { prune = false, secrets: sendSecrets = false } = options;
  const plan = await planOf(file, inventory, { prune, sendSecrets });
  await checkTools(file, plan, places);
  const isToDo = plan.steps.some(isChanging);
  if (!isToDo || options.plan) {
    await answer(terminal, options.json, documentOf(plan, undefined), () =>
      linesOf(plan).join("\n"),
    );
    if (isToDo) terminal.exitCode = thereAreChanges;
    return;
  }
  const say = options.json ? async () => {} : (line: string) => out.line(line);
  for (const line of linesOf(plan)) await say(line);
  const outcomes = carryOut(plan, {
    api: inventory.api,
    secretsOf: (entry) => fetchSecrets(entry, places),
    keepSecret: (place, secret) => keepSecret(place, secret, places.folder),
  });
  await say("");
  const ended: StepOutcome[] = [];
  for await (const outcome of outcomes) {
    ended.push(outcome);
    for (const line of outcomeLines(outcome, file)) await say(line);
  }
  const undone = ended.filter(({ result }) => result !== "done").length;
  if (options.json) {
    await out.line(JSON.stringify(documentOf(plan, ended)));
    if (undone > 0) terminal.exitCode = exitCode.failed;
    return;
  }
  if (undone > 0)
    throw new CommandFailed(
      `${undone} of ${plan.steps.filter(isChanging).length} not done; what is done stays, and the next svc apply does the rest`,
    );
}

/** Checks that all that is needed besides the API is there, before anything is done. */
async function checkTools(
  file: ReadFile,
  plan: WorkspacePlan,
  places: SecretPlaces,
): Promise<void> {
  const of = (section: string) =>
    plan.steps.filter(({ kind }) => kind.section === section).filter(isChanging);
  const sending = of("credentials").filter(
    ({ action, differences }) =>
      action === "make" || differences.some(({ path }) => path[0] === "secrets"),
  );
  await checkSecretsOf(
    file,
    sending.map(({ name }) => name),
    places,
  );
  const made = of("webhooks").filter(({ action }) => action === "make");
  await checkPlaces(
    file,
    made.map(({ name }) => name),
    places.folder,
  );
}

const words = { make: "made", change: "changed", delete: "deleted" } as const;

function outcomeLines(outcome: StepOutcome, file: ReadFile): string[] {
  const { step } = outcome;
  const title = titleOf(step);
  if (outcome.result === "done")
    return [`${title}: ${words[step.action as keyof typeof words] ?? "done"}`];
  if (outcome.result === "left") return [`${title}: left, ${outcome.because}`];
  const { error } = outcome;
  const place = step.entry ? `${file.placeOf([step.kind.section, step.name])}: ` : "";
  const fields = error instanceof ApiError ? error.fields : [];
  return [
    `${place}${title}: failed: ${error.message}`,
    ...fields.map(({ path, message }) => `    ${path} ${message}`),
  ];
}

/** The error for a person at the terminal: never exit code 2, which says that there are changes. */
async function explained(error: unknown, { err, signal }: Terminal): Promise<unknown> {
  if (signal.aborted) return error;
  if (error instanceof FaultyFile) for (const line of error.lines) await err.line(line);
  if (error instanceof UsageError) return new CommandFailed(error.message);
  if (error instanceof ApiError) return new CommandFailed(messageOf(error));
  return error;
}

export const messageOf = ({ status, message }: ApiError): string =>
  status === 401 ? `the access token is not valid: ${printable(message, 300)}` : message;

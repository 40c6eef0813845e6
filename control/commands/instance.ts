/**
 * Where an instance has its things, and how a command gets at it: beside a running server, or by
 * opening it itself. What opens it is loaded then: a command that asks a server starts without.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  addSettingsOption,
  type CommandBuilder,
  printable,
  type Terminal,
  UsageError,
} from "svc-connectors/host";
import type { ControlOptions } from "../create-control.ts";
import { connectOperator, socketPath } from "../operator/channel.ts";
import { createOperator, type Operator } from "../operator/operator.ts";
import { silentLog } from "../services/log.ts";
import type { DatabaseOptions } from "../store/database.ts";
import { openKeyring } from "../vault/keyring.ts";
import { explain } from "./failures.ts";
import { loadOperatorSettings, type OperatorSettings } from "./settings-file.ts";

/** Adds the flags of every command about an instance. */
export const addInstanceOptions = (command: Parameters<CommandBuilder>[0]) =>
  addSettingsOption(command).option("--data <FOLDER>", "where the instance lives; default .svc");

/** The walls that an instance may put around its connectors. */
export const sandboxLevels = ["process", "bubblewrap"] as const;

export interface InstanceValues {
  readonly data?: string | undefined;
  readonly settings?: string | undefined;
}

export interface Instance {
  /** Absolute path. */
  readonly folder: string;
  readonly settings: OperatorSettings;
  readonly database: DatabaseOptions;
  readonly keyFile: string;
  /** Nothing of it is there yet. Only an embedded database can tell. */
  readonly isNew: boolean;
}

/** @throws UsageError */
export async function locate(
  { cwd }: Pick<Terminal, "cwd">,
  values: InstanceValues,
): Promise<Instance> {
  const settings = await loadOperatorSettings(cwd, values.settings);
  const folder = resolve(cwd, values.data ?? ".svc");
  const url = settings.databaseUrl ?? process.env.DATABASE_URL;
  const own = join(folder, "keys.json");
  const keyFile = settings.keyFile ?? own;
  if (url === undefined || url === "") {
    const isNew = !existsSync(join(folder, "database"));
    if (!isNew && !existsSync(keyFile))
      throw new UsageError(
        `the key file "${printable(keyFile)}" is missing, and secrets in "${printable(folder)}" are sealed with its keys: restore it from your backup`,
      );
    return { folder, settings, database: { folder }, keyFile, isNew };
  }
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new UsageError("the database's URL must begin with postgres://");
  if (settings.keyFile === undefined && !existsSync(own))
    throw new UsageError(
      "with a PostgreSQL database, name the key file that its servers share: key_file in svc.config.yaml, or keys.json in the --data folder",
    );
  return { folder, settings, database: { url }, keyFile, isNew: false };
}

/**
 * Opens the instance in this process; its key file is made when it is new.
 * @throws UsageError, CommandFailed
 */
export async function openInstance(
  { folder, database, keyFile, settings }: Instance,
  options: Pick<ControlOptions, "log"> & Partial<ControlOptions> = {},
) {
  const { createControl } = await import("../create-control.ts");
  try {
    return await createControl({
      database,
      keyring: await openKeyring(keyFile, { create: true }),
      keyFile,
      reloadKeyring: () => openKeyring(keyFile, { create: false }),
      connectorsFolder: settings.folder,
      settings: {
        ...settings.control,
        warehouses: settings.control.warehouses ?? join(folder, "warehouses"),
      },
      ...options,
    });
  } catch (error) {
    throw explain(error, database);
  }
}

/**
 * The instance as its operator: the server that has the folder open is asked, else the instance
 * itself, which is opened for the time of the command. @throws UsageError when there is no instance
 */
export async function openOperator(
  terminal: Terminal,
  values: InstanceValues,
): Promise<Operator & AsyncDisposable> {
  const instance = await locate(terminal, values);
  if ("folder" in instance.database) {
    const path = socketPath(instance.folder);
    const running = path === undefined ? undefined : await connectOperator(path);
    if (running) return { ...createOperator(running), async [Symbol.asyncDispose]() {} };
    if (instance.isNew)
      throw new UsageError(
        `there is no instance in "${printable(instance.folder)}": make one with svc serve, or name it with --data`,
      );
  }
  const { askInstance } = await import("../operator/ask.ts");
  const control = await openInstance(instance, { log: silentLog });
  return {
    ...createOperator(askInstance(control.services)),
    [Symbol.asyncDispose]: () => control[Symbol.asyncDispose](),
  };
}

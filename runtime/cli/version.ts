import { packageVersion } from "../host/version.ts";
import { answer, jsonFlag } from "./answer.ts";
import type { CommandBuilder } from "./program.ts";

/** `svc version`: the version of svc. */
export const buildVersion: CommandBuilder = (command, terminal) => {
  command.option(...jsonFlag).action(async ({ json }) => {
    const document = { version: packageVersion, node: process.versions.node };
    await answer(terminal, json, document, () => packageVersion);
  });
};

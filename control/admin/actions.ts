/**
 * What the operator of an instance does to it from the command line, beside the API. Each action is
 * a function of plain data, so that a server which has the embedded database open can be asked to
 * do it (channel.ts).
 */
import type { Services } from "../services.ts";
import { setConnector } from "./connectors.ts";
import { cancelJob, getJob, listJobs } from "./jobs.ts";
import { listKeys, pruneKeys, rotateKeys } from "./keys.ts";
import { createToken, listTokens, revokeToken } from "./tokens.ts";
import { verifyChains } from "./verify.ts";
import { addWorkspace } from "./workspaces.ts";

/** What an action works with. */
export interface AdminContext {
  readonly services: Pick<Services, "database" | "vault" | "connectors" | "clock">;
  /** Undefined: the keys live in memory. */
  readonly keyFile: string | undefined;
}

export const actions = {
  "token.create": createToken,
  "token.list": listTokens,
  "token.revoke": revokeToken,
  "keys.rotate": rotateKeys,
  "keys.list": listKeys,
  "keys.prune": pruneKeys,
  "connector.set": setConnector,
  "workspace.create": addWorkspace,
  "audit.verify": verifyChains,
  "job.list": listJobs,
  "job.get": getJob,
  "job.cancel": cancelJob,
};

export type ActionName = keyof typeof actions;
type Action<Name extends ActionName> = (typeof actions)[Name];
/** Plain data both ways: it may travel as JSON. */
export type ActionInput<Name extends ActionName> = Parameters<Action<Name>>[1];
export type ActionResult<Name extends ActionName> = Awaited<ReturnType<Action<Name>>>;

export interface Admin {
  /** @throws AdminError */
  run<Name extends ActionName>(name: Name, input: ActionInput<Name>): Promise<ActionResult<Name>>;
}

export function createAdmin(ctx: AdminContext): Admin {
  return {
    run: (name, input) =>
      (actions[name] as (ctx: AdminContext, input: unknown) => Promise<never>)(ctx, input),
  };
}

export const isActionName = (name: string): name is ActionName => Object.hasOwn(actions, name);

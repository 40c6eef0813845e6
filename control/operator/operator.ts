/**
 * The operator of an instance asks it from the command line for operations of the registry, as
 * everybody's requests are, with a caller that nobody else can be. A server that has the embedded
 * database open is asked over a socket (channel.ts); else the command opens the instance itself
 * (ask.ts).
 */
import type { Static } from "typebox";
import type { AuditPlace } from "../audit/verify.ts";
import type { Job } from "../jobs/schemas.ts";
import type { AuditReport, InstanceJobs } from "../operations/instance.ts";
import type {
  AddConnectorBody,
  AddedConnectors,
  MadeConnector,
  RemovedConnector,
} from "../operations/instance-connectors.ts";
import type { Keys, PrunedKeys, RotatedKeys } from "../operations/instance-keys.ts";
import type { ConnectorSetting, FirstToken, MadeWorkspace } from "../operations/instance-setup.ts";
import type {
  MadeLink,
  MadeToken,
  RevokedToken,
  TokenBody,
  Tokens,
} from "../operations/instance-tokens.ts";
import type { JobWithParts } from "../operations/jobs.ts";
import { toOperatorError } from "./operator-error.ts";

/** The parts of a request that an operation takes. Plain data: it may travel as JSON. */
export interface OperatorInput {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
}

/** A property that may be missing may be undefined too: it does not travel. */
type OrUndefined<T> = {
  readonly [Name in keyof T]: object extends Pick<T, Name> ? T[Name] | undefined : T[Name];
};

/** The operations that the operator asks for: what goes in, and what comes out. */
export interface OperatorCalls {
  "instance.bootstrap": { input: OperatorInput; data: Static<typeof FirstToken> };
  "workspace.create": { input: { body: { name: string } }; data: Static<typeof MadeWorkspace> };
  "connector.set": {
    input: { body: { connector: string; enabled: boolean } };
    data: Static<typeof ConnectorSetting>;
  };
  "connector.add": {
    input: { body: OrUndefined<Static<typeof AddConnectorBody>> };
    data: Static<typeof MadeConnector>;
  };
  "connector.remove": {
    input: { body: { connector: string } };
    data: Static<typeof RemovedConnector>;
  };
  "connector.list_added": { input: OperatorInput; data: Static<typeof AddedConnectors> };
  "session.create": {
    input: { body: OrUndefined<Static<typeof TokenBody>> };
    data: Static<typeof MadeToken>;
  };
  "session.list": { input: OperatorInput; data: Static<typeof Tokens> };
  "session.revoke": {
    input: { params: { session_id: string } };
    data: Static<typeof RevokedToken>;
  };
  "session.link": { input: OperatorInput; data: Static<typeof MadeLink> };
  "key.rotate": { input: OperatorInput; data: Static<typeof RotatedKeys> };
  "key.list": { input: OperatorInput; data: Static<typeof Keys> };
  "key.prune": { input: OperatorInput; data: Static<typeof PrunedKeys> };
  "audit_log.verify": {
    input: {
      query: { workspace?: string | undefined; noted?: AuditPlace | undefined };
    };
    data: Static<typeof AuditReport>;
  };
  "job.list": {
    input: { query: { workspace?: string | undefined; status?: string | undefined } };
    data: Static<typeof InstanceJobs>;
  };
  "job.get": {
    input: { params: { job_id: string }; query: { include: string } };
    data: Static<typeof JobWithParts>;
  };
  "job.cancel": { input: { params: { job_id: string } }; data: Static<typeof Job> };
}
export type OperatorCall = keyof OperatorCalls;
export type OperatorData<Id extends OperatorCall> = OperatorCalls[Id]["data"];

export interface Operator {
  /** @throws OperatorError */
  run<Id extends OperatorCall>(
    id: Id,
    input: OperatorCalls[Id]["input"],
  ): Promise<OperatorData<Id>>;
}

/** Asks for an operation, here or elsewhere. Gives the envelope of its answer. */
export type AskOperation = (id: string, input: OperatorInput) => Promise<string>;

export const createOperator = (ask: AskOperation): Operator => ({
  async run(id, input) {
    const { data, details } = JSON.parse(await ask(id, input)) as {
      readonly data?: never;
      readonly details?: { readonly reason: string; readonly [name: string]: unknown };
    };
    if (details) throw toOperatorError(details);
    return data as never;
  },
});

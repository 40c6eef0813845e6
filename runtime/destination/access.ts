/** The access that a module declares: a file, sessions with a database, or requests. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type {
  ActivationEgress,
  ActivationHttpEgress,
  WritingHttpClient,
} from "../contract/activation.ts";
import type { DestinationEgress } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Broker, BrokerOptions } from "../egress/broker.ts";
import { configText } from "../egress/config-field.ts";
import { createBroker } from "../egress/create-broker.ts";
import { checkPublicUrl } from "../egress/public-url.ts";
import { createS3Store } from "../egress/s3-store.ts";
import { signingKey, signWebhook } from "../egress/webhook-signature.ts";
import { createSender } from "../wire/http-sender.ts";
import { writing } from "./failures.ts";

export type DeclaredEgress = DestinationEgress | ActivationEgress;

export interface AccessOptions extends Omit<BrokerOptions, "declaration" | "mayWrite" | "writer"> {
  readonly signal: AbortSignal;
  readonly folder: string | undefined;
}

export interface Access extends AsyncDisposable {
  /** Joins the module's context: a path, a store, `connect` or `http`. */
  readonly context: object;
}

/** @throws CONFIG_INVALID, OUTPUT_FAILED and as {@link createBroker} */
export async function openAccess(
  egress: DeclaredEgress,
  { signal, folder, ...options }: AccessOptions,
): Promise<Access> {
  if (egress.kind === "file") {
    const path = await filePath(egress, options.config, folder);
    return { context: { path }, async [Symbol.asyncDispose]() {} };
  }
  if (egress.kind === "s3") {
    if (folder === undefined) throw noFolder();
    const store = createS3Store({ ...options, declaration: egress, signal });
    return {
      context: { store, scratch: join(folder, "scratch") },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }
  const broker = createBroker(
    egress.kind === "postgres"
      ? { ...options, declaration: egress, mayWrite: true }
      : { ...options, ...httpParts(egress, options.config, () => options.clock.now()) },
  );
  const context =
    egress.kind === "postgres"
      ? { connect: () => broker.connect(signal) }
      : { http: createClient(broker, egress, signal) };
  return { context, [Symbol.asyncDispose]: () => broker.close() };
}

const noFolder = () =>
  new ConnectorError("OUTPUT_FAILED", { reason: "no folder for warehouses is set" });

/** Names of files are what people may type into a shell. */
const fileName = /^[a-z0-9][a-z0-9_-]{0,62}$/;

async function filePath(
  { name, ending }: Extract<DestinationEgress, { kind: "file" }>,
  config: JsonObject,
  folder: string | undefined,
): Promise<string> {
  const value = config[name];
  if (typeof value !== "string" || !fileName.test(value))
    throw new ConnectorError("CONFIG_INVALID", {
      path: name,
      problem: "must be small letters, digits, - and _",
    });
  if (folder === undefined) throw noFolder();
  await writing(() => mkdir(folder, { recursive: true, mode: 0o700 }));
  return join(folder, `${value}${ending}`);
}

/**
 * The base URL and the signing of an activation are not those of sources: the broker gets them
 * ready made.
 */
function httpParts(
  { signing, baseUrl, ...egress }: ActivationHttpEgress,
  config: JsonObject,
  now: () => number,
): Pick<BrokerOptions, "declaration" | "writer"> {
  const key = signing && signingKey(configText(config, signing.secret), signing.secret);
  const sign = key && ((id: string, body: Buffer) => signWebhook([key], id, body, now()));
  if (typeof baseUrl !== "string" && "kind" in baseUrl) {
    const url = checkPublicUrl(config[baseUrl.field], baseUrl.field);
    return { declaration: { ...egress, baseUrl: url.origin }, writer: { baseUrl: url, sign } };
  }
  return { declaration: { ...egress, baseUrl }, writer: { sign } };
}

function createClient(
  broker: Broker,
  { errors = [] }: ActivationHttpEgress,
  signal: AbortSignal,
): WritingHttpClient {
  const request = async (call: Parameters<Broker["request"]>[0]) => {
    const { body, ...head } = await broker.request(call, signal);
    return { ...head, text: body.toString("utf8") };
  };
  const send = createSender(request, errors);
  return {
    get: (path, options = {}) => send("GET", path, options),
    post: (path, options = {}) => send("POST", path, options),
    put: (path, options = {}) => send("PUT", path, options),
    patch: (path, options = {}) => send("PATCH", path, options),
    delete: (path, options = {}) => send("DELETE", path, options),
  };
}

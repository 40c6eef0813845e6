/**
 * Asks a Control API whatever its own document allows and forbids, and looks whether each answer
 * keeps what it promises.
 */
import type { ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { createSecretRegistry, findForbiddenFields, findShapes } from "svc-connectors/host";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { type ApiRequest, prelude, requestsOf } from "./api-requests.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { createKnownValues } from "./known-values.ts";
import {
  answersOf,
  createSchemaCompiler,
  type Described,
  dereference,
  operationsOf,
  type Schema,
} from "./openapi.ts";

export interface FuzzReport {
  readonly requestCount: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Operations that were done at least once. */
  readonly succeeded: readonly string[];
  /** Answers that may not be, each once, with a request that made it. */
  readonly findings: readonly string[];
}

/** Requests that are asked at the same time. */
const atOnce = 6;

/** Settings are named by connectors and users; the SQL of a model is in its `raw`. */
const namedByOthers =
  /\/(configuration|metadata|connection_specification|body_redacted|proposal|result)(\/|$)|^\/data(\/items\/\d+)?\/raw$/;

export async function fuzzApi(options: {
  readonly requests: number;
  readonly seed: number;
}): Promise<FuzzReport> {
  await using mailer = await startMailer({
    seed: 3,
    campaigns: 5,
    lists: 1,
    subscribersPerList: 5,
  });
  const findings = new Map<string, string>();
  const secrets = createSecretRegistry();
  const look = (what: string, where: string, text: string) => {
    const found = [
      ...findShapes(text).map(({ shape }) => shape),
      ...(secrets.contains(Buffer.from(text)) ? ["secret"] : []),
    ];
    for (const one of found) findings.set(`${where}: ${one} in ${what}`, text.slice(0, 600));
  };
  const note = (message: string, fields: object = {}) =>
    look("log", message, JSON.stringify({ message, ...fields }));
  await using api = await startTestControl({
    seams: mailer.seams,
    sandbox: "inline",
    log: { info: note, warn: note, error: note },
    settings: { network: { approvedHosts: [mailer.hostname], allowNetworks: [] } },
  });
  const document = dereference(
    JSON.parse((await api.server.inject("/control/v1/openapi.json")).payload),
  );
  const check = createCheck(document, findings, look);
  const known = createKnownValues(document);
  known.give("api_token", mailer.token, mailer.badToken);
  known.give("base_url", mailer.baseUrl);
  known.give(
    "{configuration}",
    { base_url: mailer.baseUrl },
    { base_url: mailer.baseUrl, connection_method: "self_hosted" },
  );
  known.give("{secrets}", { api_token: mailer.token }, { api_token: mailer.badToken });
  known.give("connector_id", "conn_mailer_product_edm", "conn_mailer_product_edm", "source:mailer");
  known.give("email", ...Array.from({ length: 20 }, (_, index) => `person${index}@example.com`));
  let renewals = 0;
  let { tokens } = await renewTokens(api, known, mailer, renewals++);
  // Ten characters of a secret are a leak: what all tokens begin with is none, and three more may
  // be those of another token by chance.
  const watch = (token: string) => secrets.add(token.replace(/^svc_at_/, ""));
  for (const token of [mailer.token, mailer.badToken, ...Object.values(tokens)]) watch(token);

  const byStatus: Record<string, number> = {};
  const succeeded = new Set<string>();
  const ask = async (request: ApiRequest) => {
    const sent = known.fill(request, tokens[request.token]);
    const answer = await api.server.inject(sent);
    const { statusCode: status } = answer;
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (status < 300) succeeded.add(request.operation["x-svc-operation"]);
    check(request, sent, answer);
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    if (status < 300 && isJson) known.collect(answer.payload);
    return status === 401 && !["none", "wrong"].includes(request.token);
  };
  const { requests: numRuns, seed } = options;
  const queue = [
    ...prelude(document, 3, seed),
    ...fc.sample(requestsOf(document), { numRuns, seed }),
  ];
  let requestCount = 0;
  let begunAt = 0;
  while (queue.length > 0) {
    const some = queue.splice(0, atOnce);
    requestCount += some.length;
    const refused = await Promise.all(some.map(ask));
    // Somebody was removed, or a session revoked: that is part of the API. The next begin anew,
    // with other people.
    if (!refused.some((one) => one)) continue;
    ({ tokens } = await renewTokens(api, known, mailer, renewals++));
    for (const token of Object.values(tokens)) watch(token);
    if (requestCount - begunAt > 300) queue.unshift(...prelude(document, 2, seed + requestCount));
    begunAt = requestCount;
  }
  await lookIntoTables(api, look);
  return {
    requestCount,
    byStatus,
    succeeded: [...succeeded].sort(),
    findings: [...findings].map(([finding, example]) => `${finding}\n    ${example}`),
  };
}

/** Renewals between two workspaces that have more than a source: making those takes longer. */
const wholeEvery = 8;

/**
 * New people in a new workspace that has a source; one in some has everything that requests may act
 * on.
 */
async function renewTokens(
  api: TestControl,
  known: ReturnType<typeof createKnownValues>,
  { baseUrl: base_url, token: api_token }: { readonly baseUrl: string; readonly token: string },
  count: number,
) {
  const [first, second] = [await api.addWorkspace("own"), await api.addWorkspace("foreign")];
  known.forget();
  known.give("workspace_id", ...Array<string>(9).fill(first.id), second.id);
  const { admin: token } = first.tokens;
  const stored = await api.call("POST", "/credentials/mailer/api-token", {
    token,
    body: { base_url, api_token },
  });
  const { connector_id, credential_handle } = stored.body.data;
  const body = { name: "Source", connector_id, credential_handle, configuration: { base_url } };
  const make = async (path: string, body: object) => {
    const made = await api.call("POST", path, { token, body });
    if (made.status >= 300) throw new Error(`nothing to begin with at ${path}: ${made.text}`);
    known.collect(made.text);
    return made.body.data;
  };
  const { source_id } = await make("/sources", body);
  for (let more = 0; more < 2; more += 1) await make("/sources", body);
  if (count % wholeEvery === 0) {
    const warehouse = {
      name: "Warehouse",
      connector_id: "conn_duckdb",
      configuration: { file: "warehouse" },
    };
    const { destination_id } = await make("/destinations", warehouse);
    const { pipeline_id } = await make("/pipelines", {
      source_id,
      destination_id,
      select_all: true,
    });
    await make(`/pipelines/${pipeline_id}/sync`, {});
    const query = {
      queryType: "raw_sql",
      raw: { sql: "SELECT 1 AS id, 'a@example.com' AS email" },
      primaryKey: "id",
    };
    const { modelId } = await make("/reverse-etl/models", {
      name: "Model",
      warehouseId: destination_id,
      ...query,
    });
    const account = {
      name: "Mailer",
      type: "mailer",
      credentialHandle: credential_handle,
      configuration: { base_url },
    };
    const { destinationId } = await make("/reverse-etl/destinations", account);
    const lists = await api.call("POST", "/reverse-etl/prepare", {
      token,
      body: { modelId, destinationId },
    });
    const activation = {
      name: "Activation",
      modelId,
      destinationId,
      object: lists.body.data.objects[0].name ?? lists.body.data.objects[0],
      operation: "upsert",
    };
    const mappings = [{ from: "email", to: "email", isPrimaryIdentifier: true }];
    const { activationId } = await make("/reverse-etl/activations", { ...activation, mappings });
    await make(`/reverse-etl/activations/${activationId}/run`, {});
  }
  const none = "";
  const wrong = `svc_at_${"0".repeat(46)}`;
  return {
    tokens: { ...first.tokens, foreign: second.tokens.admin, none, wrong } as Record<
      string,
      string
    >,
  };
}

interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: string;
}

/** Looks at one answer: its envelope, its schema, its headers, and what it must not hold. */
function createCheck(
  document: Described,
  findings: Map<string, string>,
  look: (what: string, where: string, text: string) => void,
) {
  const compile = createSchemaCompiler();
  const schemas = new Map<string, Schema>();
  for (const { operation } of operationsOf(document)) {
    for (const [status, { content }] of answersOf(operation))
      for (const { schema, "x-svc-item": item = schema } of Object.values(content))
        schemas.set(`${operation.operationId} ${status}`, item);
  }
  const validatorOf = (where: string): ValidateFunction | undefined => {
    const schema = schemas.get(where);
    return schema && compile(schema);
  };
  const ids = new Set<unknown>();
  return ({ operation }: ApiRequest, sent: object, { statusCode, headers, payload }: Reply) => {
    const where = `${operation.operationId} ${statusCode}`;
    const find = (what: string) => {
      if (findings.has(`${where}: ${what}`)) return;
      findings.set(
        `${where}: ${what}`,
        `${JSON.stringify(sent).slice(0, 700)}\n    ${payload.slice(0, 700)}`,
      );
    };
    if (statusCode === 500) find("500");
    const validate = validatorOf(where) ?? validatorOf(`${operation.operationId} default`);
    const items = itemsOf(String(headers["content-type"]), payload);
    if (items) {
      look("answer", where, payload);
      const wrong = items.find((item) => !validate?.(item));
      return wrong === undefined ? undefined : find("another shape of an item");
    }
    let body: Record<string, unknown>;
    try {
      body = JSON.parse(payload);
    } catch {
      return find("no JSON");
    }
    if (headers["x-request-id"] !== body.request_id) find("the header has another request id");
    if (ids.has(body.request_id)) find("a request id came twice");
    ids.add(body.request_id);
    // A value in the path can make it another address.
    const isElsewhere = statusCode === 404 || statusCode === 405;
    if (!isElsewhere && statusCode !== 401 && headers["x-ratelimit-limit"] === undefined)
      find("no limit told");
    const { reason } = (body.details ?? {}) as { reason?: unknown };
    const expected = [
      ...operation["x-svc-reasons"],
      ...(operation.responses.default?.["x-svc-reasons"] ?? []),
    ];
    if (!isElsewhere && (!validate || (statusCode >= 400 && !expected.includes(String(reason)))))
      find(`not in the document: ${reason}`);
    if (validate && !validate(body)) {
      const [first] = validate.errors ?? [];
      find(
        `another shape: ${reason ?? ""} ${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`,
      );
    }
    for (const pointer of findForbiddenFields(body))
      if (!namedByOthers.test(pointer)) find(`field ${pointer}`);
    look("answer", where, payload);
  };
}

/** The items of a stream, but for why it has ended; undefined: it is none. */
function itemsOf(type: string, payload: string): unknown[] | undefined {
  if (type.startsWith("application/x-ndjson"))
    return payload.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  if (!type.startsWith("text/event-stream")) return undefined;
  return payload.split("\n\n").flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1];
    return data === undefined || event.startsWith("event: refused") ? [] : [JSON.parse(data)];
  });
}

/** No column outside of `secrets` holds one. */
async function lookIntoTables(
  { db }: TestControl,
  look: (what: string, where: string, text: string) => void,
) {
  const tables = await db.introspection.getTables();
  for (const { name } of tables) {
    if (name === "secrets") continue;
    const rows = await db
      .selectFrom(name as "sources")
      .selectAll()
      .execute();
    look("table", name, JSON.stringify(rows));
  }
}

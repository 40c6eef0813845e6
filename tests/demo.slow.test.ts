/** `svc demo --serve` as somebody would use it who knows nothing but the line that it prints. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Body = any;

describe("svc demo --serve", () => {
  let child: ChildProcess;
  let demo: Body;
  beforeAll(async () => {
    const script = fileURLToPath(new URL("../svc.ts", import.meta.url));
    child = spawn(process.execPath, ["--conditions=svc-source", script, "demo", "--serve"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = await once(
      createInterface({ input: child.stdout as NodeJS.ReadableStream }),
      "line",
    );
    demo = JSON.parse(line);
  });
  afterAll(async () => {
    child.kill("SIGTERM");
    const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    expect(code).toBe(0);
  });

  const ask = async (
    url: string,
    method: string,
    body?: object,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const call = (
    method: string,
    path: string,
    body?: object,
    token: string = demo.workspaces[0].tokens.editor,
  ) => ask(`${demo.base_url}${path}`, method, body, { authorization: `Bearer ${token}` });
  const simulators = (method: string, path: string, body?: object) =>
    ask(`${demo.simulators_url}${path}`, method, body);

  test("has two workspaces with a token of every kind", async () => {
    for (const { workspace_id, tokens } of demo.workspaces) {
      for (const [kind, token] of Object.entries(tokens)) {
        const { data } = (await call("GET", "/me", undefined, token as string)).body;
        const role = kind === "agent" ? "editor" : kind;
        expect(data.memberships).toMatchObject([{ workspace_id, role }]);
        expect(data.session.client).toBe(kind === "agent" ? "mcp" : "api");
      }
    }
    expect((await ask(demo.openapi_url, "GET")).body.openapi).toMatch(/^3\.1/);
  });

  test.each([
    "social",
    "bankdata",
    "taskapp",
    "postgres",
  ])("gives what a source of %s needs", async (name) => {
    const { connector_id, credential, source } = demo.demo[name] ?? {};
    if (name === "postgres" && !connector_id) return;
    const stored = await call("POST", "/credentials", { connector_id, name, ...credential });
    expect(stored).toMatchObject({ status: 201 });
    const { credential_handle } = stored.body.data;
    const created = await call("POST", "/sources", {
      connector_id,
      name,
      credential_handle,
      ...source,
    });
    expect(created).toMatchObject({ status: 201, body: { data: { status: "active" } } });
  });

  test("gives what a source of the mailer needs, and a token that is refused", async () => {
    const { connector_id, base_url, api_token, bad_token, cloud, source } = demo.demo.mailer;
    for (const [token, status] of [
      [api_token, 201],
      [bad_token, 422],
    ] as const) {
      const stored = await call("POST", "/credentials/mailer/api-token", {
        base_url,
        api_token: token,
      });
      const { credential_handle } = stored.body.data;
      const created = await call("POST", "/sources", {
        connector_id,
        name: "mailer",
        credential_handle,
        ...source,
      });
      expect(created.status).toBe(status);
    }
    const { api_token: token, ...account } = cloud;
    const stored = await call("POST", "/credentials/mailer/api-token", {
      ...account,
      api_token: token,
    });
    const { credential_handle } = stored.body.data;
    const checked = await call("POST", "/connectors/mailer/check", {
      ...account,
      credential_handle,
    });
    expect(checked.body.data).toMatchObject({
      data_source_status: "ready",
      connection_method: "cloud",
    });
  });

  test.each([
    "social",
    "taskapp",
  ])("connects an account of %s with somebody who consents", async (name) => {
    const { connector_id, oauth } = demo.demo[name];
    // The task app has a path of its own, which names the connector.
    const { redirect_uri } = oauth;
    const body = name === "taskapp" ? { redirect_uri } : { connector_id, redirect_uri };
    const started = await call("POST", oauth.start_path, body);
    expect(started).toMatchObject({ status: 200 });
    const { authorization_url } = started.body.data;
    const { callback_url } = (await simulators("POST", "/consent", { authorization_url })).body;
    const query_params = Object.fromEntries(new URL(callback_url).searchParams);
    const finished = await call("POST", oauth.callback_path, { query_params });
    expect(finished).toMatchObject({
      status: 201,
      body: { data: { connector_id, status: "active" } },
    });
  });

  test("gives what it takes to sync the mailer into a warehouse, and to send rows back out", async () => {
    const { mailer, destinations, pipelines, reverse_etl } = demo.demo;
    const must = async (status: number, path: string, body: object) => {
      const answer = await call("POST", path, body);
      expect(answer).toMatchObject({ status });
      return answer.body.data;
    };
    const until = async (path: string, isOver: (data: Body) => boolean): Promise<Body> => {
      for (;;) {
        const { data } = (await call("GET", path)).body;
        if (isOver(data)) return data;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const stored = await must(201, "/credentials/mailer/api-token", {
      base_url: mailer.base_url,
      api_token: mailer.api_token,
    });
    const { credential_handle } = stored;
    const named = { name: "n", connector_id: mailer.connector_id, credential_handle };
    const { source_id } = await must(201, "/sources", { ...named, ...pipelines.mailer.source });
    const { connector_id, destination } = destinations.duckdb;
    const { destination_id } = await must(201, "/destinations", {
      name: "w",
      connector_id,
      ...destination,
    });
    const ends = { source_id, destination_id };
    const { pipeline_id } = await must(201, "/pipelines", {
      ...ends,
      ...pipelines.mailer.pipeline,
    });
    const { job } = await must(202, `/pipelines/${pipeline_id}/sync`, {});
    const ended = await until(`/jobs/${job.job_id}`, ({ ended_at }) => ended_at !== null);
    expect(ended).toMatchObject({ status: "succeeded", failure: null });

    const { modelId } = await must(201, "/reverse-etl/models", {
      name: "m",
      warehouseId: destination_id,
      ...reverse_etl.model,
    });
    const { webhook, postgres } = reverse_etl;
    const handles: Record<string, string> = { mailer: credential_handle };
    for (const [name, kind] of Object.entries({ webhook, ...(postgres ? { postgres } : {}) })) {
      const { connector_id: id, credential } = kind as Body;
      handles[name] = (
        await must(201, "/credentials", { name, connector_id: id, ...credential })
      ).credential_handle;
    }
    for (const [name, credentialHandle] of Object.entries(handles)) {
      const { destination: place, activation } = reverse_etl[name];
      const { destinationId } = await must(201, "/reverse-etl/destinations", {
        name,
        credentialHandle,
        ...place,
      });
      const plan = { name, modelId, destinationId, ...activation };
      const { activationId } = await must(201, "/reverse-etl/activations", plan);
      const { runId } = await must(202, `/reverse-etl/activations/${activationId}/run`, {});
      const run = await until(
        `/reverse-etl/runs/${runId}`,
        ({ finishedAt }) => finishedAt !== null,
      );
      expect([name, run.status, run.successfulRows.addedCount]).toEqual([name, "succeeded", 20]);
    }
  });

  test("gives a PostgreSQL destination, where there is a server", async () => {
    const { postgres } = demo.demo.destinations;
    if (!postgres) return;
    const { connector_id, credential, destination } = postgres;
    const stored = await call("POST", "/credentials", { name: "p", connector_id, ...credential });
    const { credential_handle } = stored.body.data;
    const created = await call("POST", "/destinations", {
      name: "p",
      connector_id,
      credential_handle,
      ...destination,
    });
    expect(created).toMatchObject({ status: 201, body: { data: { status: "active" } } });
  });

  test("shows what providers have seen, and lets them fail", async () => {
    const { base_url, api_token } = demo.demo.mailer;
    const stored = await call("POST", "/credentials/mailer/api-token", { base_url, api_token });
    const { credential_handle } = stored.body.data;
    await simulators("DELETE", "/requests");
    const refused = await call("POST", "/connectors/mailer/check", {
      credential_handle,
      base_url: "https://127.0.0.1/api",
    });
    expect(refused.status).toBe(422);
    expect((await simulators("GET", "/requests")).body).toEqual({
      requests: [],
      lookups: [],
      connections: [],
    });

    const fault = {
      provider: "mailer",
      fault: { type: "echo_authorization" },
      scope: { times: 100 },
    };
    expect((await simulators("POST", "/faults", fault)).status).toBe(200);
    const failed = await call("POST", "/connectors/mailer/check", { credential_handle, base_url });
    expect(failed.body.data.data_source_status).toBe("unauthorized");
    await simulators("DELETE", "/faults");
    const seen = (await simulators("GET", "/requests")).body;
    expect(seen.requests).toContainEqual(
      expect.objectContaining({ provider: "mailer", status: 401 }),
    );
    expect(seen.lookups).toContainEqual(expect.objectContaining({ host: "mail.example.com" }));
    expect(seen.connections).toContainEqual(
      expect.objectContaining({ host: "mail.example.com", port: 443 }),
    );
    expect((await simulators("POST", "/faults", { provider: "nobody" })).status).toBe(400);
  });
});

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  type Answer,
  type SimulatedRequest,
  startServer,
} from "../../simulators/simulator/server.ts";
import { loadRecordings } from "../fixtures/load.ts";
import { type RecordOptions, record } from "./record.ts";
import { RecordingError } from "./recording-error.ts";

const hostname = "api.notes.example.com";
const token = "nts_live_8Kq2Xw7Rt5Yu9Io3Pa6Sd";
const now = "2026-06-01T00:00:00Z";

const json = (value: unknown, status = 200): Answer => text(JSON.stringify(value), status);
const text = (body: string, status = 200): Answer => ({
  status,
  headers: {
    "content-type": "application/json",
    "set-cookie": "sid=Zk29fLq8Ws73hYt0",
    server: "nginx/1.2",
    etag: '"7"',
  },
  body: Buffer.from(body),
});
const note = `{"id":"n1","number":9007199254740993,"weight":0.50,"title":"to jane@corp.example","body":null,"updated_at":"2026-05-31T00:00:00.123456Z","folder_id":"f"}`;

/** The reference connector's provider. `answers` replace those of some paths. */
async function open(answers: Readonly<Record<string, (request: SimulatedRequest) => Answer>> = {}) {
  const usual: typeof answers = {
    "/v1/notes": ({ query }) => text(`{"data":[${query.has("since") ? "" : note}],"next":null}`),
    "/v1/tags": () =>
      text('{"items":[ {"id":1,"label":"a\\/b","color":null,"rank":1.0e2} ],"pages":1}'),
    "/v1/folders": () =>
      json({
        folders: [{ id: "f", name: "F" }],
        email: "jane@corp.example",
        session_token: "Zk29fLq8Ws73hYt0",
      }),
  };
  const server = await startServer({
    hostname,
    answer(request) {
      if (request.headers.authorization !== `Bearer ${token}`)
        return json({ error: "bad token" }, 401);
      return (answers[request.path] ?? usual[request.path])?.(request) ?? json({}, 404);
    },
  });
  const folder = await mkdtemp(join(tmpdir(), "recorder-"));
  const options: RecordOptions = {
    connector: {
      name: "notes",
      url: new URL("../../fixtures/reference/connector/index.ts", import.meta.url).href,
    },
    config: { api_token: token },
    seams: server.seams,
    sandbox: "inline",
    folder,
    providerApiVersion: "v1",
    now,
  };
  const close = async () => {
    await server.close();
    await rm(folder, { recursive: true });
  };
  return { folder, server, options, [Symbol.asyncDispose]: close };
}

test("check, a check with a wrong credential and every stream become files, with error answers and a baseline", async () => {
  await using provider = await open();
  const summary = await record(provider.options);
  const { recordings, answers, baseline } = await loadRecordings(provider.folder);
  expect(recordings.map(({ name, outcome }) => [name, outcome.error ?? outcome.status])).toEqual([
    ["check", "succeeded"],
    ["check-unauthenticated", "CREDENTIALS_REJECTED"],
    ["folders", "succeeded"],
    ["notes", "succeeded"],
    ["notes.incremental", "succeeded"],
    ["notes.resumed", "succeeded"],
    ["tags", "succeeded"],
  ]);
  expect(summary.files.map(({ name }) => name).sort()).toEqual(
    recordings.map(({ name }) => `${name}.yaml`).sort(),
  );
  const resumed = recordings.find(({ name }) => name === "notes.resumed");
  expect(resumed?.run).toEqual({
    verb: "read",
    config: {},
    streams: [{ name: "notes", sync_mode: "incremental" }],
    state: [{ stream: { name: "notes" }, state: { since: "2026-05-31T00:00:00.123456Z" } }],
  });
  expect(resumed?.interactions[0]?.request.url).toContain("since=2026-05-31T00%3A00%3A00.123456Z");
  expect(
    recordings.find(({ name }) => name === "notes")?.outcome.streams?.notes?.record_count,
  ).toBe(1);
  expect(answers?.answers["401"]).toMatchObject({ status: 401, body: '{"error":"bad token"}' });
  expect(answers?.answers["401"]).not.toHaveProperty("synthetic");
  expect(answers?.answers["429"]).toMatchObject({
    body: '{"error":"Too Many Requests"}',
    synthetic: true,
    headers: { "retry-after": "1" },
  });
  expect(baseline?.streams[0]).toMatchObject({
    name: "notes",
    primary_key: [["id"]],
    cursor_field: ["updated_at"],
    fields: { number: "integer" },
  });
});

test("what is written keeps its bytes, without secrets, people, and headers that nobody needs", async () => {
  await using provider = await open();
  const { redactions } = await record(provider.options);
  const { recordings } = await loadRecordings(provider.folder);
  const [check] = recordings;
  expect(check?.metadata).toMatchObject({
    provider: "notes",
    provider_api_version: "v1",
    recorded_at: now,
    clock_origin: "2026-06-01T00:00:00.000Z",
    seed: 1,
  });
  expect(check?.metadata.redactions).toEqual(["headers", ...redactions]);
  const [exchange] = check?.interactions ?? [];
  expect(exchange?.request).toEqual({ method: "GET", url: `https://${hostname}/v1/folders` });
  expect(exchange?.response.headers).toEqual({ "content-type": "application/json", etag: '"7"' });
  const tags = recordings.find(({ name }) => name === "tags")?.interactions[0]?.response.body;
  expect(tags).toBe('{"items":[ {"id":1,"label":"a\\/b","color":null,"rank":1.0e2} ],"pages":1}');
  const body = String(exchange?.response.body);
  const notes = String(
    recordings.find(({ name }) => name === "notes")?.interactions[0]?.response.body,
  );
  expect(body).toMatch(
    /^\{"folders":\[\{"id":"f","name":"F"\}\],"email":"p-[0-9a-f]{12}@example\.com","session_token":"\{\{issued:set-cookie\}\}"\}$/,
  );
  expect(notes).toBe(
    `{"data":[${note}],"next":null}`.replace("jane@corp.example", JSON.parse(body).email),
  );
  for (const name of await readdir(provider.folder))
    expect(await readFile(join(provider.folder, name), "utf8"), name).not.toMatch(
      /nts_live|jane|Zk29f|nginx/,
    );
});

test("a token is replaced also where it stood before the provider said that it is one", async () => {
  const issued = "Qw93kd82Lm1Ps7";
  let asked = 0;
  await using provider = await open({
    "/v1/folders": () =>
      json({
        folders: [{ id: "f", name: "F" }],
        ...(asked++ === 0 ? { note: `keep ${issued}` } : { api_key: issued }),
      }),
  });
  await record({ ...provider.options, streams: ["folders"] });
  const { recordings } = await loadRecordings(provider.folder);
  expect(recordings[0]?.interactions[0]?.response.body).toBe(
    '{"folders":[{"id":"f","name":"F"}],"note":"keep {{issued:api_key}}"}',
  );
});

test("a state that holds what the provider gave out is replayed with its real value", async () => {
  const since = "1987-11-24T19:57:38.123456Z";
  const row = note.replace("2026-05-31T00:00:00.123456Z", since);
  await using provider = await open({
    "/v1/notes": ({ query }) =>
      text(
        `{"data":[${query.has("since") ? "" : row}],"next":null,"session_token":"${query.get("since") ?? ""}"}`,
      ),
  });
  await record({ ...provider.options, streams: ["notes"] });
  const { recordings } = await loadRecordings(provider.folder);
  const resumed = recordings.find(({ name }) => name === "notes.resumed");
  expect(resumed?.run.state?.[0]?.state).toEqual({ since: "{{issued:session_token}}" });
  expect(resumed?.interactions[0]?.request.url).toContain("since={{issued:session_token}}");
  expect(JSON.stringify(recordings)).not.toContain(since);
});

test("the same seed gives the same bytes, another one other people", async () => {
  const bytes = async (seed: number) => {
    await using provider = await open();
    await record({ ...provider.options, seed, streams: ["notes"] });
    return await readFile(join(provider.folder, "notes.yaml"), "utf8");
  };
  const first = await bytes(1);
  expect(await bytes(1)).toBe(first);
  expect(await bytes(2)).not.toBe(first.replace("seed: 1", "seed: 2"));
});

const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1"}').toString("base64url")}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;

test.each([
  [
    "the secret in gzip in base64",
    gzipSync(`key ${token}`).toString("base64"),
    "a secret of the run",
  ],
  [
    "a live JWT in base64",
    Buffer.from(`live ${jwt}`).toString("base64"),
    "a JWT, packed in base64",
  ],
  [
    "an address in base64",
    Buffer.from("call jane@corp.example").toString("base64"),
    "an e-mail address, packed in base64",
  ],
])("%s fails the recording, which says where and writes nothing", async (_, hidden, what) => {
  await using provider = await open({
    "/v1/folders": () => json({ folders: [{ id: "f", name: "F", note: `x ${hidden}` }] }),
  });
  await writeFile(join(provider.folder, "kept.yaml"), "mine");
  const work = record(provider.options);
  await expect(work).rejects.toThrow(RecordingError);
  await expect(work).rejects.toThrow(
    `${what} in check.yaml at /interactions/0/response/body#/folders/0/note`,
  );
  await expect(work).rejects.not.toThrow(hidden.slice(0, 10));
  expect(await readdir(provider.folder)).toEqual(["kept.yaml"]);
});

test("a check that succeeds with a wrong credential is no check", async () => {
  await using server = await startServer({ hostname, answer: () => json({ folders: [] }) });
  await using provider = await open();
  await expect(record({ ...provider.options, seams: server.seams })).rejects.toThrow(
    /the check succeeded with wrong credentials/,
  );
});

test("a stream that cannot be read fails the recording", async () => {
  await using provider = await open({ "/v1/tags": () => json({ message: "no" }, 403) });
  await expect(record(provider.options)).rejects.toThrow(
    /^tags failed \(PERMISSION_DENIED\): .* --streams/,
  );
  expect(await readdir(provider.folder)).toEqual([]);
});

test("data that holds text like our placeholders cannot be recorded", async () => {
  await using provider = await open({
    "/v1/folders": () => json({ folders: [{ id: "{{secret:api_token}}", name: "F" }] }),
  });
  await expect(record(provider.options)).rejects.toThrow(
    /^check: the provider's data holds text like \{\{secret:…\}\}/,
  );
});

const pageOf = (name: string) => ({ id: name, number: 1, weight: 1, title: "x".repeat(1_000) });
/** A provider whose listing of notes never ends. */
const endless = {
  "/v1/notes": ({ query }: SimulatedRequest) => {
    const page = Number(query.get("cursor") ?? 0);
    return json({ data: [pageOf(`n${page}`)], next: String(page + 1) });
  },
};

test.each([
  [{ maxRequests: 5 }, "notes asked for more than 5 requests", 6],
  [{ maxBytes: 8_000 }, "notes got more than 0.008 MB", 8],
])("a stream that exchanges more than %j is stopped, left out and named; the others are recorded", async (limits, sentence, most) => {
  await using provider = await open(endless);
  const { notices, files } = await record({ ...provider.options, limits });
  expect(notices).toEqual([
    `${sentence}: give it settings with which it reads less (a start date, a small folder), or raise --max-requests or --max-mb. It was left out.`,
  ]);
  expect(files.map(({ name }) => name)).toEqual([
    "check.yaml",
    "check-unauthenticated.yaml",
    "tags.yaml",
    "folders.yaml",
  ]);
  const asked = provider.server.requests.filter(({ path }) => path.startsWith("/v1/notes"));
  // The connector asks for one page ahead.
  expect(asked.length).toBeLessThanOrEqual(most + 1);
});

test("recordings that are left of streams which the connector does not have are named", async () => {
  await using provider = await open();
  const options = { ...provider.options, streams: ["folders"] };
  expect((await record(options)).notices).toEqual([]);
  const text = await readFile(join(provider.folder, "folders.yaml"), "utf8");
  await writeFile(
    join(provider.folder, "lists.yaml"),
    text.replace("name: folders", "name: lists"),
  );
  expect((await record(options)).notices).toEqual([
    "Recordings of streams that the connector does not have: remove lists.yaml.",
  ]);
});

test("the version of the provider's API is what its URLs say, or what is given", async () => {
  await using provider = await open();
  const options = { ...provider.options, streams: ["folders"], providerApiVersion: undefined };
  await record(options);
  const versions = async () =>
    (await loadRecordings(provider.folder)).recordings.map(
      ({ metadata }) => metadata.provider_api_version,
    );
  expect(await versions()).toEqual(["v1", "v1", "v1"]);
  await record({ ...options, providerApiVersion: "2026-01" });
  expect(await versions()).toEqual(["2026-01", "2026-01", "2026-01"]);
});

test("where nothing is left of the streams, or the check takes too much, nothing is written", async () => {
  await using provider = await open(endless);
  for (const [limits, streams, said] of [
    [
      { maxRequests: 5 },
      ["notes"],
      /^no stream was recorded\. notes asked for more than 5 requests/,
    ],
    [
      { maxBytes: 20 },
      undefined,
      /^check got more than 0.00002 MB: .* raise --max-requests or --max-mb\.$/,
    ],
  ] as const)
    await expect(record({ ...provider.options, limits, streams })).rejects.toThrow(
      expect.objectContaining({ name: "RecordingError", message: expect.stringMatching(said) }),
    );
  expect(await readdir(provider.folder)).toEqual([]);
});

test("fields that the author names as people's lose their words, and what stands beside a mail in them", async () => {
  const people =
    '{"folders":[{"id":"f","name":"Jane Roe","about":"Jane","by":{"label":"Max <max@corp.example>"}}]}';
  await using provider = await open({ "/v1/folders": () => text(people) });
  const options = { ...provider.options, streams: ["folders"], people: ["name", "by.label"] };
  const { redactions } = await record(options);
  const { recordings } = await loadRecordings(provider.folder);
  const folders = recordings.find(({ name }) => name === "folders");
  const [folder] = JSON.parse(folders?.interactions[0]?.response.body ?? "").folders;
  expect(folder).toMatchObject({
    id: "f",
    name: expect.stringMatching(/^[A-Z][a-z]{7} [A-Z][a-z]{7}$/),
    about: "Jane",
    by: { label: expect.stringMatching(/^[A-Z][a-z]{7} <p-[0-9a-f]{12}@example\.com>$/) },
  });
  expect(redactions).toEqual(expect.arrayContaining(["personal-email", "personal-name"]));
  expect(folders?.outcome.status).toBe("succeeded");
});

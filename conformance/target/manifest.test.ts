/**
 * The kit on a declarative manifest: the well-made one passes, and a seeded defect has its line.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { manifestCode } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKit } from "../kit.ts";

const example = fileURLToPath(new URL("../../fixtures/manifest-notes/", import.meta.url));
const name = "source-notes.yaml";

let folder: string;
let text: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-manifest-kit-"));
  text = await readFile(join(example, name), "utf8");
  const settings = await readFile(join(example, "conformance.yaml"), "utf8");
  await cp(join(example, "fixtures"), join(folder, "fixtures"), { recursive: true });
  await writeFile(join(folder, "conformance.yaml"), settings);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function tryRules(manifest: string, rules: readonly string[]) {
  await writeFile(join(folder, name), manifest);
  await using kit = await openKit({
    ...{ connector: `./${name}`, cwd: folder, kind: "module", network: {}, command: "svc" },
    ...{ profiles: ["core", "resumable", "resilient"], rules, seed: 1, isExhaustive: false },
  });
  return await kit.run();
}

test("a well-made one passes, and is not blamed for what its author cannot change", async () => {
  const rules = ["SPEC-03", "READ-04", "SCHEMA-01", "STATE-01", "STATE-09"];
  const report = await tryRules(text, rules);
  const results = Object.fromEntries(report.rules.map(({ id, result }) => [id, result]));
  expect(results).toEqual({
    ...Object.fromEntries(rules.map((id) => [id, "pass"])),
    "STATE-09": "not-applicable",
  });
  expect(report.connector.digest).toBe((await manifestCode(text)).digest);
});

const recordedFolders = '{"folders":[{"id":"f1","name":"Inbox"},{"id":"f2","name":"Reading"}]}';

/** The provider answers for folders with this body in its recording. */
async function withFolders(body: string, work: () => Promise<unknown>) {
  const file = join(folder, "fixtures", "folders.yaml");
  const recorded = await readFile(file, "utf8");
  expect(recorded).toContain(recordedFolders);
  await writeFile(file, recorded.replace(recordedFolders, body));
  try {
    await work();
  } finally {
    await writeFile(file, recorded);
  }
}

const passes = async (manifest: string, rule: string) => {
  const [report] = (await tryRules(manifest, [rule])).rules;
  expect([report?.result, report?.problems.map(({ sentence }) => sentence)]).toEqual(["pass", []]);
};

test("is not blamed for a field that may be null, and is null where it is missing", () =>
  passes(text.replaceAll(/ +required: \[(?:body|color)\].*\n/g, ""), "SCHEMA-05"));

test("is not blamed for a list whose items become null, which the record says", async () => {
  const body =
    '{"folders":[{"id":"f1","name":"a","sizes":[1]},{"id":"f2","name":"b","sizes":[2]}]}';
  const sizes = "name: { type: string }, sizes: { type: array, items: { type: integer } } }";
  const manifest = text.replace("name: { type: string } }", sizes);
  expect(manifest).toContain(sizes);
  await withFolders(body, () => passes(manifest, "SCHEMA-06"));
});

test("is not blamed for what an answer holds beside its declared fields: it does not come out", async () => {
  const manifest = text
    .replace("field_path: [folders]", "field_path: []")
    .replace(/ +- \{ type: HttpResponseFilter, action: FAIL.*\n/, "");
  const body = '[{"id":"f1","name":"Inbox"},{"id":"f2","name":"Reading"}]';
  await withFolders(body, () => passes(manifest, "LEAK-03"));
});

test("is not blamed for pages that it counts: the same page under every number is an error", () => {
  const counted = text.replace(
    /type: CursorPagination\n +page_size: 2\n +cursor_value: "\{\{ response.page .*\n.*\n/,
    "type: PageIncrement\n          page_size: 2\n          start_from_page: 1\n",
  );
  expect(counted).toContain("PageIncrement");
  return passes(counted, "PAGE-01");
});

test("is blamed for a token that it declares as a field", async () => {
  const manifest = text
    .replace("name: folders\n    primary_key: id", "name: folders")
    .replace("field_path: [folders]", "field_path: []")
    .replace(
      "name: { type: string } }",
      "name: { type: string }, session_token: { type: string } }",
    )
    .replace(/ +- \{ type: HttpResponseFilter, action: FAIL.*\n/, "");
  const body = '[{"id":"f1","name":"Inbox"},{"id":"f2","name":"Reading"}]';
  await withFolders(body, async () => {
    const [report] = (await tryRules(manifest, ["LEAK-03"])).rules;
    expect(report?.problems[0]?.sentence).toMatch(/session_token" stands as it is in .*RECORD/);
  });
});

const defects: readonly (readonly [
  what: string,
  rule: string,
  from: string,
  to: string,
  line: string,
])[] = [
  [
    "pages that end where one is short",
    "PAGE-03",
    'cursor_value: "{{ response.page + 1 }}"\n          stop_condition: "{{ response.page >= response.pages }}"',
    'cursor_value: "{{ response.page + 1 }}"\n          stop_condition: "{{ last_page_size < 2 }}"',
    "name: tags",
  ],
  [
    "a field that is no text",
    "SCHEMA-01",
    "name: { type: string }",
    "name: { type: integer }",
    "name: folders",
  ],
  [
    "rows that an answer hides in an error",
    "ERROR-03",
    "action: FAIL",
    "action: IGNORE",
    "type: HttpRequester",
  ],
  [
    "an answer without rows that is no failure",
    "ERROR-04",
    "response.get(parameters.rows) is not sequence or response[parameters.rows] is string or response[parameters.rows] is mapping or ",
    "",
    "type: HttpRequester",
  ],
  [
    "a key that is none",
    "READ-05",
    "name: notes\n    primary_key: id",
    "name: notes\n    primary_key: folder_id",
    "name: notes",
  ],
];

test.for(defects)("%s: %s finds it", async ([, rule, from, to, line]) => {
  expect(text).toContain(from);
  const changed = text.replace(from, to);
  const [report] = (await tryRules(changed, [rule])).rules;
  expect(report?.result).toBe("fail");
  const [, at] = /^source-notes\.yaml:(\d+): /.exec(report?.problems[0]?.sentence ?? "") ?? [];
  const first = changed.split("\n").findIndex((one) => one.includes(line)) + 1;
  expect(Number(at)).toBeGreaterThanOrEqual(first);
});

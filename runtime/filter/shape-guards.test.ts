import { describe, expect, test } from "vitest";
import { findForbiddenFields, findShapes, type ShapeName } from "./shape-guards.ts";

const jsStack = new Error("real").stack ?? "";

/** Real traces and standard samples of each runtime. */
const samples: readonly (readonly [ShapeName, string])[] = [
  ["Python stack", 'see File "/app/main.py", line 3, in read'],
  ["JavaScript stack", jsStack],
  [
    "JavaScript stack",
    "Error: x\n    at async Runner.run (file:///srv/app/runner.js:10:5)\n    at new Promise (<anonymous>)",
  ],
  [
    "JavaScript stack",
    "Error: x\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
  ],
  ["JavaScript stack", "TypeError: y\n    at Object.<anonymous> (C:\\work\\new\\index.js:1:7)"],
  ["JavaScript stack", "TypeError: y\n    at webpack-internal:///./src/a.js:3:9"],
  [
    "Python stack",
    'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    boom()\nValueError: no',
  ],
  [
    "Java or .NET stack",
    "java.lang.IllegalStateException: no\n\tat com.example.Source.read(Source.java:42)\nCaused by: java.io.IOException: x",
  ],
  [
    "Java or .NET stack",
    "System.Exception: no\n   at Example.Source.Read(String path) in /src/Source.cs:line 42",
  ],
  ["Go stack", "panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/main.go:8 +0x1d"],
  [
    "PHP stack",
    "PHP Fatal error: Uncaught Exception: no in /var/www/a.php:3\nStack trace:\n#0 /var/www/a.php(7): f()\n#1 {main}",
  ],
  ["Rust stack", "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds"],
  ["Rust stack", "thread 'main' (4711) panicked at src/main.rs:4:5:\nindex out of bounds"],
  ["Ruby stack", "app.rb:3:in `read': no (RuntimeError)\n\tfrom app.rb:7:in '<main>'"],
  ["Perl stack", "no at script.pl line 3."],
  ["PEM", "key:\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKC\n-----END RSA PRIVATE KEY-----\n"],
  ["JWT", "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
  ["path", "cannot open /home/someone/config.json"],
  ["path", "cwd=/workspace/job-1"],
  ["path", "C:\\Users\\someone\\x.txt is missing"],
  ["path", "see file:///opt/x/y.js"],
  ["path", "in node_modules/undici/index.js"],
  ["path", "in lib/python3.12/site-packages/requests"],
  ["path", "mount /var/run/secrets/token"],
  ["image", "pulled registry.example.com:5000/team/worker:1.4.2"],
  ["image", "pulled airbyte/source-postgres:3.6.0"],
  ["image", `pulled worker@sha256:${"0f".repeat(32)}`],
];

describe.each([
  ["plain", (text: string) => text],
  ["inside a JSON string", (text: string) => JSON.stringify({ message: text })],
  [
    "inside JSON in JSON",
    (text: string) => JSON.stringify({ body: JSON.stringify({ message: text }) }),
  ],
])("%s", (_, wrap) => {
  test.each(samples)("%s is found in %j", (shape, sample) => {
    expect(findShapes(wrap(sample)).map((found) => found.shape)).toContain(shape);
  });
});

test("the place of a shape is where it stands", () => {
  const text = "cannot open /home/someone/config.json, sorry";
  expect(findShapes(text).map(({ index, length }) => text.slice(index, index + length))).toEqual([
    "/home/someone/config.json",
  ]);
});

test.each([
  "The ratio is 3:4:5) at noon.",
  "Look at example.com (our site) at 10:30:15.",
  "Meet me at the usual place (12:30).",
  "GET /v1/lists/17/members?page=2 answered 404.",
  "https://api.example.com/home/users and https://example.com/app/x",
  "either/or, 1/2, and/or, src/index.ts",
  "key a:\nfoo b:\nbar",
  JSON.stringify({ text: "key a:\nfoo b:\nbar\n" }),
  JSON.stringify(JSON.stringify({ text: "key a:\nfoo b:\nbar\n" })),
  "2026-01-02T03:04:05.678Z to 2026-01-02T03:04:05+02:00",
  "name.first.last, v1.2.3, 10.0.0.1:5432",
  "The File menu, line 4",
  "eyJ is how base64 of JSON begins",
  "a:b/c:d, runtime/sync.ts:12, http://example.com:8080/path",
  "Caused by: a missing permission",
])("%j is clean", (text) => {
  expect(findShapes(text)).toEqual([]);
});

test("no text makes the search slow", () => {
  for (const unit of [
    "at ",
    "a/",
    "/home/",
    "\\n",
    "eyJ",
    "a.",
    'File "',
    "-----BEGIN A-----",
    "x:",
    "#0 ",
    " in ",
    "\\\\",
    "a-",
  ]) {
    expect(findShapes(unit.repeat(20_000 / unit.length)).length).toBeGreaterThanOrEqual(0);
  }
});

test("forbidden property names are found at any depth, whatever their spelling", () => {
  const answer = {
    data: [
      { id: 1, accessToken: "x" },
      { "Set-Cookie": "y", inner: { stack_trace: "z" } },
    ],
    config: { headers: {}, "a/b": { PRIVATE_KEY: 1 } },
    headers: {},
    password_hint: 1,
  };
  expect(findForbiddenFields(answer)).toEqual([
    "/data/0/accessToken",
    "/data/1/Set-Cookie",
    "/data/1/inner/stack_trace",
    "/config/headers",
    "/config/a~1b/PRIVATE_KEY",
  ]);
});

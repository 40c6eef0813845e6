import type { JsonObject } from "svc-connectors";
import { createHost, systemClock } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { Interaction } from "../contract/recording.ts";
import { createConnectorSubject } from "./connector-subject.ts";
import { outcomeOf } from "./replay.ts";

const config: JsonObject = { api_token: "nts_live_8Kq2Xw7Rt5Yu9Io3Pa6Sd" };
const options = {
  subject: createConnectorSubject({
    connector: {
      name: "notes",
      url: new URL("../../fixtures/reference/connector/index.ts", import.meta.url).href,
    },
    host: { sandbox: "inline" },
    createHost,
    createClock: () => systemClock,
  }),
  config,
  reveal: (placeholder: string) => (placeholder === "{{issued:id}}" ? 'q"7' : placeholder),
  redact: (text: string) => text.replaceAll("api.notes", "[redacted]"),
};
const capture = {
  name: "check",
  request: { verb: "check", config },
  result: { lines: [], state: [], streams: [] },
  clockOriginMs: 0,
  exchanges: [],
} as const;
const metadata = {
  kit: 1,
  matcher: 1,
  provider: "notes",
  provider_api_version: "v1",
  recorded_at: "",
  clock_origin: "",
  seed: 1,
  redactions: [],
} as const;
const answered = (body: string, path = "folders"): Interaction => ({
  request: { method: "GET", url: `https://api.notes.example.com/v1/${path}` },
  response: { status: 200, headers: { "content-type": "application/json" }, body },
});
const draft = (...interactions: Interaction[]) => ({
  name: "check",
  metadata,
  run: { verb: "check" } as const,
  interactions,
});

test("what was recorded is run once more, with real values in place of placeholders", async () => {
  expect(
    await outcomeOf(
      draft(answered('{"folders":[{"id":"{{issued:id}}","name":"F"}]}')),
      capture,
      options,
    ),
  ).toEqual({
    status: "succeeded",
  });
});

test("values that are the same without their secrets are told apart", async () => {
  const work = outcomeOf(draft(answered("{}", "folders?since=2")), capture, {
    ...options,
    redact: () => "parameter token={{issued:token}} instead of {{issued:token}}, another body",
  });
  await expect(work).rejects.toThrow(
    "parameter token=another value instead of {{issued:token}}, another body. The",
  );
});

test.each([
  [
    "a request that was not recorded",
    draft(answered("{}", "them")),
    /^check cannot be replayed: GET .* was not recorded/,
  ],
  [
    "a recorded request that nobody makes",
    draft(answered('{"folders":[]}'), answered("{}", "them")),
    /check#2 GET .*them\./,
  ],
  ["another outcome", draft(answered("{}")), /it gave RESPONSE_INVALID instead of no failure/],
])("%s is reported, without secrets", async (_, recorded, message) => {
  const work = outcomeOf(recorded, capture, options);
  await expect(work).rejects.toThrow(message);
  await expect(work).rejects.not.toThrow(/api\.notes/);
});

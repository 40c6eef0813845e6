import { expect, test } from "vitest";
import type { Lab } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import { dataDenial } from "./check-04.data-denied.ts";

const exchange = (path: string, body: string): Exchange =>
  ({
    request: { method: "GET", url: new URL(path, "https://api.example.com"), body: "" },
    answer: { status: 200, headers: {}, body: Buffer.from(body) },
  }) as unknown as Exchange;

const job = (id: string) => [
  exchange("/v1/exports", `{"id":"${id}","kind":"rows"}`),
  exchange(`/v1/exports/${id}`, '{"status":"done"}'),
  exchange(`/v1/exports/${id}/file`, '{"row":1}\n'),
];

/** A lab whose check and one read ask for these. */
function labOf(check: readonly Exchange[], read: readonly Exchange[]): Lab {
  const places = [["check", check] as const, ["read", read] as const].flatMap(
    ([verb, exchanges]) => {
      const whole = { outcome: { status: "succeeded" }, exchanges };
      return exchanges.map((one) => ({ command: { verb }, recording: verb, whole, exchange: one }));
    },
  );
  return { once: async () => places } as unknown as Lab;
}

test("who may ask for one job may ask for another one: its id was given by an answer", async () => {
  const denial = await dataDenial(labOf(job("exp_1"), job("exp_2")));
  expect(denial?.endpoints).toEqual([
    "https://api.example.com/v1/exports",
    "https://api.example.com/v1/exports/{id}",
    "https://api.example.com/v1/exports/{id}/file",
  ]);
  expect(denial?.allowed).toEqual([]);
  for (const { request } of job("exp_1")) expect(denial?.isDenied(request)).toBe(true);
});

test("a check that makes a job and leaves it alone does not ask for what a read needs", async () => {
  const denial = await dataDenial(labOf(job("exp_1").slice(0, 1), job("exp_2")));
  expect(denial?.endpoints).toEqual([
    "https://api.example.com/v1/exports/{id}",
    "https://api.example.com/v1/exports/{id}/file",
  ]);
});

test("a word that an answer has, too, is no id where a path begins with it", async () => {
  const denial = await dataDenial(
    labOf(
      [exchange("/v1/me", '{"may":"rows"}'), exchange("/v1/rows", "[]")],
      [exchange("/v1/rows", "[]")],
    ),
  );
  expect(denial?.endpoints).toEqual(["https://api.example.com/v1/rows"]);
});

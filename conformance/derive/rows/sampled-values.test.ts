import { expect, test } from "vitest";
import { openDefect, tryOn } from "../../../fixtures/reference/lab.ts";
import rule from "../../rules/schema-05-times-and-texts.ts";

test("a stream that the sample leaves out is read once with values of every kind", async () => {
  await using lab = await openDefect("schema-05-keys-without-case");
  const first = Object.assign(Object.create(lab) as typeof lab, {
    sample: <T>(items: readonly T[]) => items.slice(0, 1),
  });
  const { problems, untried } = await tryOn(rule, first);
  expect(problems.map(({ sentence }) => sentence).join("\n")).toMatch(
    /folders: id is "twin0" .* its record does not come/,
  );
  expect(untried).toContain(
    "tags, folders: left out by the sample, but for one read of each with some values of each kind",
  );
});

import { expect, test } from "vitest";
import { connectorKinds } from "../contract/card.ts";
import { cardSchema } from "../contract/card-schema.ts";
import { compileSchema } from "../spec/validation.ts";
import { readCards } from "./cards.ts";

const connectors = connectorKinds.flatMap((kind) => readCards(kind));
const label = ({ kind, name }: (typeof connectors)[number]) => `${kind} ${name}`;

test.each(
  connectors.map((one) => [label(one), one] as const),
)("the card of the %s is well-formed, and says what its module says", async (_, {
  folder,
  type,
  reference,
  ...card
}) => {
  expect(compileSchema(JSON.parse(JSON.stringify(cardSchema)))(card)).toEqual([]);
  const { default: module } = await import(reference.url);
  expect({
    id: card.id,
    title: card.title,
    documentationUrl: card.documentationUrl,
  }).toEqual({
    id: module.id,
    title: module.title,
    documentationUrl: module.documentationUrl,
  });
});

test("no two connectors share a name, or those of one kind an id", () => {
  const names = connectors.map(({ name }) => name);
  const ids = connectors.map(({ kind, id }) => `${kind} ${id}`);
  expect([new Set(names).size, new Set(ids).size]).toEqual([names.length, ids.length]);
});

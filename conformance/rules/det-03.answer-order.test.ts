import { expect, test } from "vitest";
import { type AnswerOrder, holdAnswers } from "./det-03.answer-order.ts";

async function answered(order: AnswerOrder): Promise<string> {
  const { pass } = holdAnswers(order);
  const done: string[] = [];
  const ask = async (name: string) => {
    await pass();
    done.push(name);
  };
  await Promise.all([ask("a"), ask("b"), ask("c")]);
  return done.join("");
}

test("requests that wait together are answered in the order that is wanted", async () => {
  expect(await answered("one-by-one")).toBe("abc");
  expect(await answered("last-first")).toBe("cba");
});

test("requests that come one after another are all answered, and none waits with another", async () => {
  const { pass, mostWaiting } = holdAnswers("last-first");
  await pass();
  await pass();
  expect(mostWaiting()).toBe(1);
});

/** The connector in its sandbox: one warm host for the whole file, one Item that keeps changing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBankdataClock, createBankdataRun } from "../../../fixtures/bankdata/run.ts";
import type { ConnectorRun } from "../../../fixtures/connector-run.ts";
import { type BankdataSimulator, startBankdata } from "../../../simulators/bankdata/bankdata.ts";
import type { ApiRow } from "../../../simulators/bankdata/rows.ts";
import type { Truth } from "../../../simulators/bankdata/truth.ts";
import { streams } from "./streams.ts";

const config = { include_identity: true, include_account_numbers: true };
const incremental = { syncMode: "incremental", config } as const;
const names = streams.map((stream) => stream.name as keyof Truth);

let bank: BankdataSimulator;
let run: ConnectorRun;
beforeAll(async () => {
  bank = await startBankdata({ seed: 7, transactions: 1300, accounts: 8 });
  run = createBankdataRun(bank, { sandbox: "process", keepWarm: 1 });
});
afterAll(async () => {
  await run[Symbol.asyncDispose]();
  await bank.close();
});

const keysOf = (name: string, rows: readonly ApiRow[]) => {
  const { primaryKey } = streams.find((stream) => stream.name === name) ?? { primaryKey: [] };
  return rows.map((row) => primaryKey.map((field) => row[field]).join(" ")).sort();
};

/** A table of transactions: what a destination has after these rows, in their order. */
function apply(table: Map<string, ApiRow>, rows: readonly ApiRow[]): void {
  for (const row of rows) {
    if (row._removed === true) table.delete(String(row.transaction_id));
    else table.set(String(row.transaction_id), row);
  }
}

const amountsOf = (rows: Iterable<ApiRow>) =>
  Object.fromEntries(
    [...rows].map(({ transaction_id, amount, name, pending }) => [
      transaction_id,
      [amount, name, pending],
    ]),
  );

/** Numbers from 0 up to `below` that are always the same. */
function createDice(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

test.each(names)("%s comes out of the sandbox as the provider has it", async (name) => {
  const { rows, nulledCount } = await run.read(name, { config });
  expect(keysOf(name, rows)).toEqual(keysOf(name, bank.truth[name]()));
  expect(nulledCount).toBe(0);
});

/** Rounds of reads that may crash. */
const rounds = 24;

test("crashes at random points, between changes of the Item, never lose or keep a transaction", async () => {
  const dice = createDice(20_261);
  const table = new Map<string, ApiRow>();
  let state: { cursor: string } | undefined;
  let crashCount = 0;
  for (let round = 0; round < rounds; round++) {
    const current = bank.truth.transactions().map((row) => String(row.transaction_id));
    const one = () => current[dice(current.length)] ?? "";
    bank.mutate.addTransactions(dice(3) === 0 ? 620 : dice(4));
    if (dice(2) === 0)
      bank.mutate.modifyTransaction(one(), {
        amount: `${round}.25`,
        name: `Changed in round ${round}`,
      });
    if (dice(3) === 0) bank.mutate.removeTransaction(one());
    if (dice(3) === 0) {
      const first = one();
      if (bank.truth.transactions().some((row) => row.transaction_id === first))
        bank.mutate.postTransaction(first);
    }
    if (dice(4) === 0) {
      bank.fail("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", {
        path: "/transactions/sync",
        after: dice(2),
      });
    }
    const stopAfter = dice(2) === 0 ? dice(4) : Number.POSITIVE_INFINITY;
    const result = await run.read("transactions", {
      ...incremental,
      stopAfter,
      ...(state ? { state } : {}),
    });
    bank.faults.clear();
    // also what no cursor covers: a destination may have it, and it comes again
    apply(table, result.rows);
    if (result.states.length === 0) crashCount += 1;
    state = (result.states.at(-1) as typeof state) ?? state;
    if (result.states.length > 0)
      expect(amountsOf(table.values())).toEqual(amountsOf(bank.truth.transactions()));
  }
  expect(crashCount).toBeGreaterThan(rounds / 8);
  apply(
    table,
    (await run.read("transactions", { ...incremental, ...(state ? { state } : {}) })).rows,
  );
  expect(amountsOf(table.values())).toEqual(amountsOf(bank.truth.transactions()));
});

/** Requests a minute, the most refusals that it takes to learn them, and rows that need more. */
const limits = [
  [10, 12, 50_000],
  [50, 0, 50_000],
] as const;

test("the limit of an Item is kept without being told, and a lower one is learned from refusals", async () => {
  for (const [requests, most, transactionCount] of limits.slice(0, 2)) {
    const clock = createBankdataClock();
    const itemLimit = { requests, windowMs: 60_000 };
    await using limited = await startBankdata({
      transactions: transactionCount,
      itemLimit,
      clockNow: () => clock.now(),
    });
    await using own = createBankdataRun(limited, { sandbox: "process", clock });
    const { rows } = await own.read("transactions");
    expect(rows).toHaveLength(transactionCount);
    expect(limited.requests.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(
      most,
    );
  }
});

test("no form of a key or token gets out, whatever the provider answers", async () => {
  const secrets = [bank.secret, bank.accessToken];
  const forms = secrets.flatMap((text) => {
    const bytes = Buffer.from(text);
    return [
      text,
      bytes.toString("base64").slice(0, -4),
      bytes.toString("hex"),
      encodeURIComponent(text),
    ];
  });
  const quoted = JSON.stringify({
    error_type: "X",
    error_code: "X",
    error_message: forms.join(" "),
  });
  const row = {
    account_id: forms[0],
    name: forms.join(" "),
    official_name: forms[1],
    balances: {},
  };
  const answers = [
    { type: "status", status: 400, body: quoted },
    { type: "status", status: 500, body: quoted },
    { type: "status", status: 200, body: quoted },
    { type: "status", status: 200, body: `{"accounts":[${forms.join()}` },
    {
      type: "status",
      status: 200,
      body: JSON.stringify({ accounts: [row], item: { item_id: forms[2] } }),
    },
    { type: "stack_trace" },
  ] as const;
  const outputs: string[] = [];
  for (const answer of answers) {
    bank.faults.inject(answer, { times: 20 });
    const describe = (error: unknown) => `${JSON.stringify(error)} ${error}`;
    outputs.push(await run.check().then(() => "", describe));
    outputs.push(await run.read("accounts").then(({ text }) => text, describe));
    bank.faults.clear();
  }
  const all = outputs.join("\n");
  expect(all).toContain("[redacted]");
  for (const form of forms) expect(all).not.toContain(form);
  expect(all).not.toMatch(/vendor|#0 \/var/);
});

/** An API source into messages, against a loop of undici that checks nothing. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startProgram } from "../run.ts";
import { compare, printComparison, type Way } from "./measure.ts";
import { here, node, quoted, type World } from "./world.ts";

const records = 2_000_000;
const recordsPerPage = 1_000;

export async function benchRecords(world: World, rounds: number): Promise<void> {
  using server = await startProgram("rows-server.ts");
  const ca = join(world.folder, "ca.pem");
  await writeFile(ca, String(server.ready.ca));
  const command = (file: string) => () =>
    `${node} ${quoted(here(file))} ${Number(server.ready.port)} ${quoted(ca)} ${records / recordsPerPage} >/dev/null 2>&1`;
  const ways: readonly Way[] = [
    { name: "svc", command: command("svc-read.ts") },
    { name: "loop of undici", aim: 2, command: command("naive-read.ts") },
  ];
  const title = `${records.toLocaleString("en")} records of an API → messages`;
  printComparison(title, ways, await compare(title, ways, rounds, world.place));
}

/** Takes a lock of the database, says so, and keeps it until it is killed. */
import { openDatabase } from "../control/store/database.ts";

const { url, key } = JSON.parse(process.argv[2] ?? "{}") as { url: string; key: string };
const database = await openDatabase({ url });
await database.exclusively(key, async () => {
  console.log("held");
  await new Promise(() => setInterval(() => undefined, 1_000));
});

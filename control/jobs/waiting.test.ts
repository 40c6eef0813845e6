import { expect, test } from "vitest";
import { startTestControl } from "../../tests/control.ts";
import { addJob, createStandingClock } from "../../tests/control-jobs.ts";
import { queueWaiting } from "./waiting.ts";

test("all jobs that wait are queued, in more than one step; the others stay as they are", async () => {
  const clock = createStandingClock();
  await using api = await startTestControl({ clock });
  const ids: string[] = [];
  for (let count = 0; count < 450; count += 1) ids.push(await addJob(api));
  const [running = "", later = ""] = ids;
  const set = (id: string, change: object) =>
    api.db.updateTable("jobs").set(change).where("id", "=", id).execute();
  await set(running, { status: "running" });
  await set(later, { runnable_at: new Date(clock.now() + 1) });
  await queueWaiting(api.control.services);
  const counts = await api.db
    .selectFrom("jobs")
    .select(["status", (eb) => eb.fn.countAll().as("count")])
    .groupBy("status")
    .execute();
  expect(Object.fromEntries(counts.map(({ status, count }) => [status, Number(count)]))).toEqual({
    queued: 448,
    pending: 1,
    running: 1,
  });
});

/** Code that must not compile: `tsc -p console` fails when any of it does. */
import { api, ask } from "./client.ts";

export async function wrongFields(): Promise<void> {
  // @ts-expect-error no such address
  await api.GET("/sauces");
  // @ts-expect-error no such status
  await api.GET("/jobs", { params: { query: { status: "asleep" } } });
  // @ts-expect-error the name is missing
  await api.POST("/destinations", { body: { connector_id: "conn_duckdb" } });
  // @ts-expect-error no such field
  await api.POST("/destinations", { body: { name: "a", connector_id: "b", config: {} } });
  const { items } = await ask(api.GET("/sources"));
  // @ts-expect-error the answer has no such field
  items[0]?.sourceId;
}

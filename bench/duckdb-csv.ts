/** Standard input, as CSV, into a table of a new DuckDB file. Argument: the file. */
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(String(process.argv[2]));
const connection = await instance.connect();
await connection.run(`CREATE TABLE people AS SELECT * FROM read_csv('/dev/stdin', header = false, columns = {
  id: 'BIGINT', email: 'VARCHAR', name: 'VARCHAR', active: 'VARCHAR', score: 'DOUBLE', amount: 'DECIMAL(12, 2)', created_at: 'TIMESTAMPTZ',
  city: 'VARCHAR', note: 'VARCHAR', visits: 'BIGINT'})`);
connection.closeSync();
instance.closeSync();

/**
 * A loopback HTTPS provider with any number of small records, in pages of 1,000; pages are made
 * once, so that it costs little CPU; after the last one they are empty. Started as a process of its
 * own; prints one JSON line {port, ca}. GET /v1/rows?page=n&pages=m. Argument: how long an answer
 * takes, in ms; default 0.
 */
import { createServer } from "node:https";
import { createCertificateAuthority } from "../simulators/certificates.ts";

const rowsPerPage = 1_000;
const distinctPages = 20;
const answerMs = Number(process.argv[2] ?? 0);

const bodies = Array.from({ length: distinctPages }, (_, page) => {
  const rows = Array.from({ length: rowsPerPage }, (_, row) => {
    const id = page * rowsPerPage + row;
    return {
      id,
      email: `person${id}@example.org`,
      name: `Person Number ${id}`,
      status: id % 3 === 0 ? "active" : "paused",
      score: id / 7,
      opens: id % 100,
      created_at: new Date(1_700_000_000_000 + id * 1000).toISOString(),
      note: id % 10 === 0 ? 'says "hi"' : null,
    };
  });
  return Buffer.from(`{"data":${JSON.stringify(rows)},"meta":{"page":${page}}}`);
});

const noRows = Buffer.from('{"data":[],"meta":{}}');

const authority = await createCertificateAuthority();
const names = ["bench.example.com", "localhost"];
const server = createServer(await authority.issue(names), (request, response) => {
  const query = new URL(request.url ?? "/", "https://bench.example.com").searchParams;
  const page = Number(query.get("page"));
  const isOver = query.has("pages") && page >= Number(query.get("pages"));
  const body = isOver ? noRows : (bodies[page % distinctPages] as Buffer);
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  if (answerMs === 0) response.end(body);
  else setTimeout(() => response.end(body), answerMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  console.log(
    JSON.stringify({ port: (server.address() as { port: number }).port, ca: authority.caPem }),
  );
});
process.stdin.on("end", () => process.exit(0)).resume();

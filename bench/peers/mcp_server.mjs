// The smallest server of the official TypeScript SDK: one tool that does nothing. Says where it listens.
//
// node mcp_server.mjs PACKAGES, where PACKAGES is the folder that the SDK is installed in.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/node_modules/`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Server } = await load("server/index.js");
const { StreamableHTTPServerTransport } = await load("server/streamableHttp.js");
const { CallToolRequestSchema } = await load("types.js");

/** Answers a request as the SDK does it without sessions: with a server of its own. */
async function answer(request, response) {
  const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async () => ({ content: [{ type: "text", text: "null" }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

process.stdin.on("end", () => process.exit(0)).resume();
const http = createServer((request, response) => void answer(request, response));
http.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${http.address().port}`));

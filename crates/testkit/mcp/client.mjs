// The reference client, driven by a test: node client.mjs stdio COMMAND ARGS… | http URL
// Standard input is a JSON array of calls, [{name, arguments}]; standard output is what came of them. The client itself holds
// every structured answer against the schema that the server gave for it.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, ...target] = process.argv.slice(2);
let text = "";
for await (const piece of process.stdin) text += piece;

const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of JSON.parse(text)) {
  results.push(await client.callTool(call).catch((error) => ({ refused: String(error.message), code: error.code })));
}
const server = client.getServerVersion();
const instructions = client.getInstructions();
await client.close();
process.stdout.write(JSON.stringify({ server, instructions, tools, results }));

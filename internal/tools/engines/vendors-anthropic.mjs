// Runs Anthropic's own client against two fakes of its service, and prints what it received as JSON.
// Usage: node vendors-anthropic.mjs URL KEY URL-OF-A-FAKE-THAT-CALLS-TOOLS
import Anthropic from "@anthropic-ai/sdk";

const [url, key, toolsURL] = process.argv.slice(2);
const messages = [{ role: "user", content: [{ type: "text", text: "Hello?" }] }];
const open = (baseURL, apiKey) => new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const client = open(url, key);

const reply = await client.messages.stream({ model: "m", max_tokens: 10, messages }).finalMessage();
const format = { type: "json_schema", schema: { type: "object", properties: { pass: { type: "boolean" } } } };
const answer = await client.messages.create({ model: "m", max_tokens: 10, messages, output_config: { format } });
const tools = await open(toolsURL, key).messages.stream({ model: "m", max_tokens: 10, messages }).finalMessage();
const refusal = await open(url, "wrong").messages.create({ model: "m", max_tokens: 10, messages }).catch((e) => e);

console.log(JSON.stringify({
  reply: reply.content[0].text,
  stop: reply.stop_reason,
  usage: [reply.usage.input_tokens, reply.usage.cache_read_input_tokens, reply.usage.output_tokens],
  answer: JSON.parse(answer.content[0].text),
  calls: tools.content.filter((b) => b.type === "tool_use").map((b) => [b.name, b.input]),
  refusal: [refusal.status, refusal.error.error.type],
}));

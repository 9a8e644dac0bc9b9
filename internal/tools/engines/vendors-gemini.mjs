// Runs Google's own client against two fakes of its service, and prints what it received as JSON.
// Usage: node vendors-gemini.mjs URL KEY URL-OF-A-FAKE-THAT-CALLS-TOOLS
import { GoogleGenAI } from "@google/genai";

const [url, key, toolsURL] = process.argv.slice(2);
const contents = "Hello?";
const model = "gemini-2.5-flash";
const open = (baseUrl, apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl } }).models;

async function stream(models) {
  const received = { text: "", calls: [], usage: null, stop: null };
  for await (const piece of await models.generateContentStream({ model, contents })) {
    for (const part of piece.candidates?.[0]?.content?.parts ?? []) {
      received.text += part.text ?? "";
      if (part.functionCall) received.calls.push([part.functionCall.name, part.functionCall.args]);
    }
    received.usage = piece.usageMetadata ?? received.usage;
    received.stop = piece.candidates?.[0]?.finishReason ?? received.stop;
  }
  return received;
}

const reply = await stream(open(url, key));
const answer = await open(url, key).generateContent({
  model,
  contents,
  config: { responseMimeType: "application/json", responseJsonSchema: { type: "object", properties: { pass: { type: "boolean" } } } },
});
const tools = await stream(open(toolsURL, key));
const refusal = await open(url, "wrong").generateContent({ model, contents }).catch((e) => e);

console.log(JSON.stringify({
  reply: reply.text,
  stop: reply.stop,
  usage: [reply.usage.promptTokenCount, reply.usage.candidatesTokenCount],
  answer: JSON.parse(answer.text),
  calls: tools.calls,
  refusal: refusal.status,
}));

// A brain that takes a number of five digits. Compile it with tsc, and run it with: SECRET=whsec_... PORT=8000 node brain.js
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, IncomingHttpHeaders } from "node:http";

interface Turn { number: number; kind: "start" | "speech" | "digits" | "silence"; text: string; digits?: string; interrupted: boolean; heard?: string }
interface Request { conversation: string; turn: Turn; early: boolean; said?: string; variables: Record<string, unknown> }
type Line = { type: string; [member: string]: unknown };

const key = Buffer.from((process.env.SECRET ?? "").replace("whsec_", ""), "base64");

/** Reports whether Callwright has signed the body within the last five minutes. */
function signed(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = headers["webhook-id"], at = headers["webhook-timestamp"];
  const right = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest();
  const given = String(headers["webhook-signature"]).split(" ").map((s) => Buffer.from(s.replace("v1,", ""), "base64"));
  return Math.abs(Date.now() / 1000 - Number(at)) < 300 && given.some((g) => g.length === right.length && timingSafeEqual(g, right));
}

/** Yields the lines of an answer, from nothing but the request. */
function* answer({ turn }: Request): Generator<Line> {
  const digits = turn.digits ?? "";
  if (turn.kind === "start" && turn.number > 1) {
    yield { type: "say", text: "I could not reach anybody. What is your customer number?" };
  } else if (turn.number === 1) {
    yield { type: "say", text: "Hello. What is your customer number?" };
  } else if (digits.length === 5) {
    yield { type: "set", variables: { customer: digits } };
    yield { type: "say", text: "Thank you. Somebody will call you back. Goodbye." };
    return yield { type: "end", reason: "the number is known" };
  } else if (/person/i.test(turn.text)) {
    yield { type: "say", text: "One moment, please." };
    return yield { type: "transfer" };
  } else {
    yield { type: "say", text: "Please say the five digits of your customer number." };
  }
  yield { type: "expect", kind: "digits", min: 5, max: 5 };
  yield { type: "done", early: true };
}

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks), good = signed(request.headers, body);
  response.writeHead(good ? 200 : 401, { "content-type": "application/x-ndjson" });
  for (const line of good ? answer(JSON.parse(body.toString()) as Request) : []) response.write(JSON.stringify(line) + "\n");
  response.end();
}).listen(Number(process.env.PORT ?? 8000), "127.0.0.1");

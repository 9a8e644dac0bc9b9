// Speaks a text with the client of a vendor, against a server of our tests, and writes what the client has received as JSON:
// {"audio": base64 of mu-law at 8 kHz, "words": [...]}. Standard input is {"service", "url" (http), "key", "text"}.
import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text as readAll } from "node:stream/consumers";

const { service, url, key, text } = JSON.parse(await readAll(process.stdin));
const require = createRequire(import.meta.url);
const ws = url.replace(/^http/, "ws");
const audio = [];
const words = [];

// Each function resolves when the text was spoken.
const services = {
  async cartesia() {
    const { default: Cartesia } = require("@cartesia/cartesia-js"); // as a module, it does not find ws
    const socket = await new Cartesia({ apiKey: key, baseURL: url }).tts.websocket();
    const context = socket.context({
      model_id: "sonic-3.5", voice: "v1", output_format: { container: "raw", encoding: "pcm_mulaw", sample_rate: 8000 }, add_timestamps: true,
    });
    await context.push({ transcript: text, flush: true });
    await context.no_more_inputs();
    let flushes = 0;
    for await (const m of context.receive()) {
      if (m.type === "chunk") audio.push(Buffer.from(m.audio ?? Buffer.from(m.data, "base64")));
      if (m.type === "timestamps") words.push(...m.word_timestamps.words);
      if (m.type === "flush_done") flushes++;
      if (m.type === "error") throw new Error(JSON.stringify(m));
    }
    if (flushes !== 1) throw new Error(`${flushes} flushes are done`);
    socket.close();
  },
  async deepgram() {
    const { DeepgramClient } = await import("@deepgram/sdk");
    const client = new DeepgramClient({ apiKey: key, baseUrl: ws });
    const socket = await client.speak.v1.connect({ model: "aura-2-thalia-en", encoding: "mulaw", sample_rate: 8000 });
    const done = new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.on("message", async (m) => {
        if (m instanceof ArrayBuffer || ArrayBuffer.isView(m)) audio.push(Buffer.from(m));
        else if (m instanceof Blob) audio.push(Buffer.from(await m.arrayBuffer()));
        else if (m.type === "Flushed") resolve();
      });
    });
    socket.connect();
    await socket.waitForOpen();
    socket.sendText({ type: "Speak", text });
    socket.sendFlush({ type: "Flush" });
    await done;
    socket.sendClose({ type: "Close" });
  },
  // The package has no client for this WebSocket, but the types of its messages.
  async elevenlabs() {
    const serialization = require(join(dirname(require.resolve("@elevenlabs/elevenlabs-js")), "serialization"));
    const WebSocket = require("ws");
    const socket = new WebSocket(`${ws}/v1/text-to-speech/v1/multi-stream-input?model_id=eleven_flash_v2_5&output_format=ulaw_8000`, { headers: { "xi-api-key": key } });
    const strict = { unrecognizedObjectKeys: "fail" };
    const send = async (type, message) => socket.send(JSON.stringify(await type.jsonOrThrow(message, strict)));
    const done = new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("closed")));
      socket.on("message", async (data) => {
        const raw = Object.fromEntries(Object.entries(JSON.parse(data)).filter(([, value]) => value !== null));
        const type = raw.isFinal ? serialization.FinalOutputMulti : serialization.AudioOutputMulti;
        const m = await type.parseOrThrow(raw, strict);
        if (m.contextId !== "a") throw new Error(`context ${m.contextId}`);
        if (m.audio) audio.push(Buffer.from(m.audio, "base64"));
        if (m.alignment) words.push(m.alignment.chars.join(""));
        if (m.isFinal) resolve();
      });
    });
    await new Promise((resolve) => socket.on("open", resolve));
    await send(serialization.InitializeConnectionMulti, { text: " ", contextId: "a", voiceSettings: { speed: 1 } });
    await send(serialization.SendTextMulti, { text: `${text} `, contextId: "a" });
    await send(serialization.FlushContext, { contextId: "a", flush: true });
    await send(serialization.CloseContext, { contextId: "a", closeContext: true });
    await done;
  },
};

try {
  await new Promise((resolve, reject) => {
    process.on("uncaughtException", reject);
    process.on("unhandledRejection", reject);
    services[service]().then(resolve, reject);
  });
  process.stdout.write(JSON.stringify({ audio: Buffer.concat(audio).toString("base64"), words }), () => process.exit(0)); // some clients hold timers that would delay the end
} catch (e) {
  console.error(e);
  process.exit(1);
}

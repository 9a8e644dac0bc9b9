// Recognizes audio with the client of a vendor, against a server of our tests, and writes what the client has reported as JSON:
// {"partials": [...], "final": "..."}. Standard input is {"service", "url" (http), "key", "audio" (mu-law at 8 kHz in base64)}.
import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const { service, url, key, audio: encoded } = JSON.parse(await text(process.stdin));
const audio = Buffer.from(encoded, "base64");
const ws = url.replace(/^http/, "ws");
const pieces = [];
for (let at = 0; at < audio.length; at += 800) pieces.push(audio.subarray(at, at + 800));
const silence = Buffer.alloc(800, 0xff);
const partials = [];

// Each function passes the final text to done, with a function that closes the connection.
const services = {
  async "deepgram v1"(done) {
    const { DeepgramClient } = await import("@deepgram/sdk");
    const client = new DeepgramClient({ apiKey: key, baseUrl: ws });
    const socket = await client.listen.v1.connect({
      model: "nova-3", encoding: "mulaw", sample_rate: 8000, channels: 1, interim_results: "true",
    });
    socket.on("message", (m) => {
      if (m.type !== "Results") return;
      const { transcript } = m.channel.alternatives[0];
      if (!m.is_final) partials.push(transcript);
      else if (m.from_finalize) done(transcript, () => socket.close());
    });
    socket.connect();
    await socket.waitForOpen();
    for (const p of pieces) socket.sendMedia(p);
    socket.sendKeepAlive({ type: "KeepAlive" });
    socket.sendFinalize({ type: "Finalize" });
  },
  async "deepgram v2"(done) {
    const { DeepgramClient } = await import("@deepgram/sdk");
    const client = new DeepgramClient({ apiKey: key, baseUrl: ws });
    const socket = await client.listen.v2.connect({ model: "flux-general-en", encoding: "mulaw", sample_rate: 8000 });
    socket.on("message", (m) => {
      if (m.type !== "TurnInfo") return;
      if (m.event === "Update") partials.push(m.transcript);
      if (m.event === "EndOfTurn") done(m.transcript, () => socket.close());
    });
    socket.connect();
    await socket.waitForOpen();
    for (const p of pieces) socket.sendMedia(p);
    socket.sendConfigure({ type: "Configure", keyterms: ["Zoe"] });
    socket.sendForceEndTurn({ type: "ForceEndTurn" });
  },
  async openai(done) {
    const { default: OpenAI } = await import("openai");
    const { OpenAIRealtimeWS } = await import("openai/realtime/ws");
    const socket = new OpenAIRealtimeWS({ model: "gpt-4o-mini-transcribe" }, new OpenAI({ apiKey: key, baseURL: `${url}/v1` }));
    socket.on("error", (e) => { throw e; });
    socket.on("conversation.item.input_audio_transcription.delta", (e) => {
      if (e.item_id) partials.push((partials.at(-1) ?? "") + e.delta);
    });
    socket.on("conversation.item.input_audio_transcription.completed", (e) => done(e.transcript, () => socket.close()));
    socket.on("session.created", () => {
      const input = { format: { type: "audio/pcmu" }, transcription: { model: "gpt-4o-mini-transcribe", language: "en" }, turn_detection: null };
      socket.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
      for (const p of pieces) socket.send({ type: "input_audio_buffer.append", audio: p.toString("base64") });
      socket.send({ type: "input_audio_buffer.commit" });
    });
  },
  async elevenlabs(done) {
    const { ElevenLabsClient, RealtimeEvents } = await import("@elevenlabs/elevenlabs-js");
    const client = new ElevenLabsClient({ apiKey: key, baseUrl: url });
    const connection = await client.speechToText.realtime.connect({
      modelId: "scribe_v2_realtime", audioFormat: "ulaw_8000", sampleRate: 8000, commitStrategy: "manual", languageCode: "en", keyterms: ["Zoe"],
    });
    connection.on(RealtimeEvents.PARTIAL_TRANSCRIPT, (m) => partials.push(m.text));
    connection.on(RealtimeEvents.ERROR, (e) => { throw new Error(JSON.stringify(e)); });
    connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT, (m) => done(m.text, () => connection.close()));
    connection.on(RealtimeEvents.SESSION_STARTED, () => {
      for (const p of pieces) connection.send({ audioBase64: p.toString("base64"), sampleRate: 8000 });
      connection.commit();
    });
  },
  async assemblyai(done) {
    const { StreamingTranscriber } = await import("assemblyai");
    const client = new StreamingTranscriber({
      apiKey: key, websocketBaseUrl: `${ws}/v3/ws`, sampleRate: 8000, encoding: "pcm_mulaw", speechModel: "universal-streaming-english",
      keytermsPrompt: ["Zoe"],
    });
    client.on("error", (e) => { throw e; });
    client.on("turn", (turn) => {
      if (turn.end_of_turn) done(turn.transcript, () => client.close(false));
      else partials.push(turn.transcript);
    });
    await client.connect();
    for (const p of pieces) client.sendAudio(p.length < 400 ? Buffer.concat([p, silence]) : p);
    client.keepAlive();
    client.updateConfiguration({ keyterms_prompt: ["Ana"] });
    client.forceEndpoint();
  },
  async cartesia(done) {
    const { default: Cartesia } = createRequire(import.meta.url)("@cartesia/cartesia-js"); // as a module, it does not find ws
    const client = new Cartesia({ apiKey: key, baseURL: url });
    const socket = client.stt.autoFinalize.websocket({ model: "ink-2", encoding: "pcm_mulaw", sample_rate: 8000, keyterm: ["Zoe", "Ana"] });
    socket.on("error", (e) => { throw e; });
    socket.on("turn.update", (m) => partials.push(m.transcript));
    socket.on("turn.end", (m) => done(m.transcript, () => socket.close()));
    socket.on("connected", () => {
      for (const p of pieces) socket.sendRaw(p);
      for (let i = 0; i < 10; i++) socket.sendRaw(silence);
    });
  },
};

try {
  const final = await new Promise((resolve, reject) => {
    process.on("uncaughtException", reject);
    services[service]((transcript, close) => {
      resolve(transcript);
      close();
    }).catch(reject);
  });
  process.stdout.write(JSON.stringify({ partials, final }), () => process.exit(0)); // some clients hold timers that would delay the end
} catch (e) {
  console.error(e);
  process.exit(1);
}

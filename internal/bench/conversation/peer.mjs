// Prints 0 or 1 for each 20 ms of the audio on standard input (16 bits, 8 kHz): the verdicts of WebRTC's detector in its strictest mode.
import Fvad from '@echogarden/fvad-wasm';
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const audio = Buffer.concat(chunks);
const m = await Fvad();
const vad = m._fvad_new();
m._fvad_set_sample_rate(vad, 8000);
m._fvad_set_mode(vad, 3);
const buffer = m._malloc(320);
let out = '';
for (let at = 0; at + 320 <= audio.length; at += 320) {
  m.HEAPU8.set(audio.subarray(at, at + 320), buffer);
  out += m._fvad_process(vad, buffer, 160) === 1 ? '1' : '0';
}
process.stdout.write(out);

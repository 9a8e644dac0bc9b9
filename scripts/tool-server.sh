#!/usr/bin/env bash
# Proves the tool server, callwright mcp, with the programs of the protocol's authors, against the reference server:
#
#   inspector    lists the tools and calls them, over standard input and output and over HTTP
#   conformance  the scenarios that hold for any server, over HTTP
#
# Everything is made in a temporary folder, and what is started is ended. It needs Go, flite, and node with npm:
# scripts/install-deps.sh demo and clients. The versions are the newest that run on Node 20.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

inspector=1.0.3
conformance=0.1.13
scenarios='server-initialize ping tools-list dns-rebinding-protection'

work=$(mktemp -d)
started=()

# stop ends what this script started, and waits for at most 10 seconds.
stop() {
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do
    for _ in $(seq 50); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.2
    done
    kill -9 "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap stop EXIT

fail() {
  echo "tool-server: $*" >&2
  exit 1
}

# await waits until a file is there and not empty, for at most 60 seconds; the second argument is the log of what writes it.
await() {
  for _ in $(seq 300); do
    [ -s "$1" ] && return
    sleep 0.2
  done
  cat "$2" >&2
  fail "$1 is not there after a minute"
}

echo "tool-server: build"
go build -o "$work/server" ./examples/server
go build -o "$work/callwright" ./cmd/callwright

echo "tool-server: fetch inspector $inspector and conformance $conformance"
(cd "$work" && echo '{"private":true}' >package.json &&
  timeout 300 npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts --save-exact --cache "$work/npm" \
    "@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance")
bin=$work/node_modules/.bin

"$work/server" --data "$work/data" --addr 127.0.0.1:0 --sip-addr 127.0.0.1:0 --rtp-ports 0-0 >"$work/server.log" 2>&1 &
started+=($!)
await "$work/data/server.json" "$work/server.log"

# The inspector has options of the same names as ours, so it starts a script.
printf '#!/bin/sh\nexec %q mcp --server %q\n' "$work/callwright" "$work/data/server.json" >"$work/tools"
chmod +x "$work/tools"

# inspect runs the inspector on the tool server over standard input and output, and prints the answer.
inspect() { timeout 60 "$bin/mcp-inspector" --cli "$work/tools" "$@" 2>"$work/inspector.log" || fail "the inspector: $(cat "$work/inspector.log")"; }

# check evaluates an expression about r, the JSON of standard input, which must be true.
check() {
  node -e '
    const text = require("fs").readFileSync(0, "utf8");
    const r = JSON.parse(text);
    Promise.resolve(eval(process.argv[1])).then((good) => {
      if (!good) { console.error(process.argv[1] + "\n" + text); process.exit(1); }
    });' "$1" || fail "$2"
}

echo "tool-server: inspector over standard input and output"
names=tts_sample_get,tts_samples_list,tts_speak,tts_voice_delete,tts_voice_get,tts_voice_rename,tts_voices_list
inspect --method tools/list >"$work/list.json"
check "r.tools.map((t) => t.name).sort().join() === '$names'" "the tools are not the seven" <"$work/list.json"
check 'r.tools.every((t) => t.description && t.annotations && t.inputSchema && t.outputSchema)' "a tool lacks its schemas" <"$work/list.json"

call() {
  local tool=$1
  shift
  local arguments=()
  for argument; do arguments+=(--tool-arg "$argument"); done
  inspect --method tools/call --tool-name "$tool" "${arguments[@]}"
}
call tts_voices_list | check "r.structuredContent.voices.some((v) => v.name === 'slt')" 'no voice named slt'
call tts_voices_list custom_only=true | check 'r.structuredContent.voices.every((v) => !v.public)' 'a custom voice is public'
call tts_voice_get voice=slt | check "r.structuredContent.voice.name === 'slt'" 'no voice named slt'
call tts_speak 'text=Your table is booked.' voice=slt >"$work/spoken.json"
check "r.structuredContent.voice_used === 'slt' && r.content.some((c) => c.type === 'resource_link')" 'nothing was spoken' <"$work/spoken.json"
check 'fetch(r.structuredContent.url).then((a) => a.arrayBuffer()).then((a) => Buffer.from(a).subarray(0, 4).toString() === "RIFF")' \
  'the link leads to no audio' <"$work/spoken.json"
sample=$(node -p "JSON.parse(require('fs').readFileSync('$work/spoken.json')).structuredContent.sample_id")
call tts_samples_list limit=1 | check "r.structuredContent.samples[0].sample_id === '$sample'" 'the sample is not in front'
call tts_sample_get "sample_id=$sample" include_audio=true |
  check "r.content.some((c) => c.type === 'audio' && c.mimeType === 'audio/wav' && c.data.startsWith('UklGR'))" 'the sample has no audio'
call tts_voice_get voice=nobody | check "r.isError && JSON.parse(r.content[0].text).code === 'NOT_FOUND'" 'a voice that is not there'
call tts_voice_rename voice_id=nobody name=Ina | check 'r.isError' 'a voice that is not there was renamed'
call tts_voice_delete voice_id=nobody | check 'r.isError' 'a voice that is not there was deleted'
call tts_speak 'text= ' | check "r.isError && JSON.parse(r.content[0].text).code === 'BAD_REQUEST'" 'a blank text'

echo "tool-server: inspector over HTTP"
"$work/callwright" mcp --addr 127.0.0.1:0 --server "$work/data/server.json" --json >"$work/http.json" 2>"$work/http.log" &
started+=($!)
await "$work/http.json" "$work/http.log"
url=$(node -p "JSON.parse(require('fs').readFileSync('$work/http.json')).url")
remote() { timeout 60 "$bin/mcp-inspector" --cli "$url" --transport http --method tools/list "$@"; }
remote --header "Authorization: Bearer $(cat "$work/data/api-key")" | check "r.tools.map((t) => t.name).sort().join() === '$names'" 'the tools over HTTP'
if remote >/dev/null 2>&1; then fail 'a client without a key was served'; fi

# The suite sends no keys, so a proxy adds one. It leaves everything else as it is, the hosts that one scenario pretends included.
echo "tool-server: conformance"
cat >"$work/proxy.cjs" <<'END'
const http = require("http"), fs = require("fs"), to = new URL(process.argv[2]), key = fs.readFileSync(process.argv[3], "utf8").trim();
http.createServer((q, a) => {
  const headers = { ...q.headers, authorization: "Bearer " + key };
  q.pipe(http.request({ host: to.hostname, port: to.port, path: q.url, method: q.method, headers, setHost: false }, (r) => {
    a.writeHead(r.statusCode, r.headers);
    r.pipe(a);
  }).on("error", () => a.destroy()));
}).listen(0, "127.0.0.1", function () { fs.writeFileSync(process.argv[4], String(this.address().port)); });
END
node "$work/proxy.cjs" "$url" "$work/data/api-key" "$work/port" 2>"$work/proxy.log" &
started+=($!)
await "$work/port" "$work/proxy.log"
for scenario in $scenarios; do
  timeout 60 "$bin/conformance" server --url "http://127.0.0.1:$(cat "$work/port")/mcp" --scenario "$scenario" >"$work/conformance.log" 2>&1 || {
    cut -c1-2000 "$work/conformance.log" >&2
    fail "the scenario $scenario"
  }
  echo "  $scenario"
done
echo "tool-server: all passed"

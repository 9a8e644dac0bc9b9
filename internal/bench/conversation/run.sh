#!/usr/bin/env bash
# Prints the table of docs/performance.md: how an agent takes turns with human callers, beside the rules of others. It fetches
# Debian's recorded prompts in five languages, hold music and a voice activity detector of npm into a cache; nothing else needs a network.
#
#   run.sh                          the held-out half of speakers and languages, the processor time of a call's detectors, and the frames
#                                   that are late in 50 and 200 calls; for a machine that does nothing else
#   run.sh [go test options]        the held-out half only, such as: run.sh -run TestStops
#   HALF=tune run.sh                the half that thresholds may be tuned on
#   UTTERANCES=20 run.sh            fewer utterances for each condition
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/callwright-bench-conversation}
mkdir -p "$cache/packages"

languages="en es fr it ru"
packages="asterisk-moh-opsound-wav asterisk-prompt-it-menardi-wav"
for language in $languages; do
	packages="$packages asterisk-core-sounds-$language-wav asterisk-core-sounds-$language"
done
if [ ! -e "$cache/prompts/done" ]; then
	for package in $packages; do
		(cd "$cache/packages" && apt-get download "$package" >&2)
	done
	for file in "$cache"/packages/*.deb; do dpkg-deb -x "$file" "$cache/prompts"; done
	gunzip -kf "$cache"/prompts/usr/share/doc/*/core-sounds-*.txt.gz
	touch "$cache/prompts/done"
fi
if [ ! -e "$cache/peers/node_modules" ]; then
	mkdir -p "$cache/peers"
	cp "$here/package.json" "$here/package-lock.json" "$here/peer.mjs" "$cache/peers/"
	(cd "$cache/peers" && npm ci --no-audit --no-fund >&2)
fi
cd "$here"
go test -run '^Test' -count=1 -timeout 2h "$@" -args -corpus "$cache" -half "${HALF:-held}" -utterances "${UTTERANCES:-60}"
if [ $# = 0 ]; then
	go test -run '^$' -bench 'Detector|Hear' -benchmem ../../../speech/activity
	go test -run '^$' -bench 'Calls$' -benchtime 4x ..
fi

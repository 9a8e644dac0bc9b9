#!/usr/bin/env bash
# Compares the processor time of a test with promptfoo's: see README.md. Nothing but npm install needs a network.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tests=${TESTS:-1000}
rounds=${ROUNDS:-3}
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/callwright-bench-promptfoo}

mkdir -p "$cache"
cp "$here/package.json" "$here/package-lock.json" "$cache/"
[ -x "$cache/node_modules/.bin/promptfoo" ] || (cd "$cache" && npm install --no-save --no-audit --no-fund >&2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here" && go build -o "$work/callwright" .)

# No telemetry, no look for updates, no account; its files, of which one is its database, in a folder of their own.
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_REMOTE_GENERATION=true
export PROMPTFOO_CONFIG_DIR=$work/promptfoo PROMPTFOO_DISABLE_SHARING=1 PROMPTFOO_SELF_HOSTED=1
few=$((tests / 10))
for n in "$tests" "$few"; do "$work/callwright" -tests "$n" -promptfoo "$work/tests-$n.json"; done

promptfoo() { # with the number of tests, and further options
	local n=$1
	shift
	"$cache/node_modules/.bin/promptfoo" eval -c "$work/tests-$n.json" --no-cache --no-progress-bar --no-table --no-share "$@"
}
callwright() { # with the number of tests, and nothing, memory or sqlite
	local store=${2:-}
	if [ "$store" = sqlite ]; then
		store=$(mktemp -d "$work/db.XXXX")
	fi
	"$work/callwright" -tests "$1" -store "$store"
}

# cpu prints the user and system seconds of a command, the least of all rounds. The processes that it starts count.
cpu() {
	local least='' seconds
	for _ in $(seq "$rounds"); do
		seconds=$({ TIMEFORMAT='%U %S'; time "$@" >"$work/out" 2>&1; } 2>&1 | awk '{ print $1 + $2 }') || { cat "$work/out" >&2; exit 1; }
		least=$(awk -v a="$seconds" -v b="${least:-$seconds}" 'BEGIN { print (a < b) ? a : b }')
	done
	echo "$least"
}

# row prints what a test costs: of a whole process, and of each further test.
row() {
	local name=$1 all some
	shift
	all=$(cpu "$1" "$tests" "${@:2}")
	some=$(cpu "$1" "$few" "${@:2}")
	awk -v name="$name" -v all="$all" -v some="$some" -v n="$tests" -v m="$few" \
		'BEGIN { printf "%-28s %8.2f s %10.3f ms %10.3f ms\n", name, all, 1000 * all / n, 1000 * (all - some) / (n - m) }'
}

printf '%-28s %10s %13s %13s\n' "$tests tests, least of $rounds" process "a test" "each further"
row 'promptfoo --no-write' promptfoo --no-write
row 'Callwright, nothing stored' callwright
row 'promptfoo, stored in SQLite' promptfoo
row 'Callwright, stored in SQLite' callwright sqlite
row 'Callwright, stored in memory' callwright memory
